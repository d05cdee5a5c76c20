"""A schema learned from private rows, and paid for."""

from understudy.discover.discovery import Discovery, Inferred, infer_schema
from understudy.discover.skeleton import Skeleton

__all__ = ["Discovery", "Inferred", "Skeleton", "infer_schema"]
