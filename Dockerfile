# understudy for a container: the command line, with files, s3://, DuckDB, PostgreSQL and SQLite.
# Other extras: docker build --build-arg EXTRAS=database,lake,mysql -t understudy .
# docker build -t understudy . && docker run --rm understudy doctor
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
ARG EXTRAS=database
COPY --from=wheel /wheels /wheels
# Rows and the ledger are in volumes; nothing runs as root.
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[$EXTRAS]" \
    && rm -rf /wheels \
    && useradd --create-home --uid 10001 steward \
    && install --directory --owner steward /data /state
# What was last seen of a ledger in a database stays with the ledger: a container that ends forgets.
ENV UNDERSTUDY_LEDGER=/state/ledger.jsonl XDG_STATE_HOME=/state
USER 10001
WORKDIR /data
VOLUME ["/data", "/state"]
HEALTHCHECK --interval=5m --timeout=30s CMD ["understudy", "doctor", "--json"]
ENTRYPOINT ["understudy"]
CMD ["--help"]
