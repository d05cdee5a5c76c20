"""Pictures are whole documents in which nothing overlaps and every edge leads where it should."""

from __future__ import annotations

import itertools
import string
import sys
from xml.sax.saxutils import escape

import pytest
import resvg_py
from hypothesis import given, settings
from hypothesis import strategies as st

from support.networks import model_of, named, networks, random_network
from support.pictures import Area, Picture
from support.tiers import examples
from understudy.errors import UsageError
from understudy.models.network import Family, Network
from understudy.models.pictures import network_png, network_svg, png
from understudy.models.pictures.drawing import drawn
from understudy.models.pictures.lettering import (
    ELLIPSIS,
    is_bounded,
    shortened,
    text_width,
)
from understudy.models.pictures.svg import Marks, svg_of
from understudy.models.strengths import Strengths

_PAIR = Network((Family("age"), Family("sex", ("age",))))


def _picture(network: Network, marks: Marks | None = None, *, theme: str = "auto") -> Picture:
    scores = {edge: i / len(network.edges) for i, edge in enumerate(network.edges, 1)}
    return Picture.of(svg_of(drawn(network, scores), marks or Marks(), theme=theme))


def _apart(areas: list[Area]) -> bool:
    return not any(a.overlaps(b) for a, b in itertools.combinations(areas, 2))


def _check_whole(picture: Picture, network: Network) -> None:
    """Boxes and texts apart and on the page, labels in their boxes, lines beside other boxes."""
    boxes = picture.boxes
    assert set(network.order) == boxes.keys()
    assert _apart([*boxes.values()])
    assert _apart(picture.texts)
    assert all(picture.page.holds(area) for area in [*boxes.values(), *picture.texts])
    assert all(boxes[name].holds(label) for name, label in picture.labels.items())
    _check_edges(picture, network)


def _check_edges(picture: Picture, network: Network) -> None:
    """Each goes from its parent, or from a line of its parent, to its child, past all others."""
    edges, boxes = picture.edges, picture.boxes
    assert sorted(network.edges) == sorted((edge.parent, edge.child) for edge in edges)
    for edge in edges:
        start, end = edge.spots[0], edge.spots[-1]
        on_parent = _touches(boxes[edge.parent], start, side="bottom")
        siblings = (other for other in edges if other.parent == edge.parent and other != edge)
        assert on_parent or any(start in other.spots for other in siblings)
        assert _touches(boxes[edge.child], end, side="top")
        others = [box for name, box in boxes.items() if name not in (edge.parent, edge.child)]
        spots = [Area(x, y, x, y) for x, y in edge.spots]
        assert not any(box.holds(spot) for box in others for spot in spots)


def _touches(box: Area, spot: tuple[float, float], *, side: str) -> bool:
    edge = box.bottom if side == "bottom" else box.top
    return box.left <= spot[0] <= box.right and abs(edge - spot[1]) <= 0.1


@settings(max_examples=examples(25), deadline=None)
@given(networks())
def test_nothing_overlaps(network: Network) -> None:
    """In networks of all shapes, with marks and a caption."""
    marks = Marks(network.order[:2], network.order[-1], "privbayes: a caption", "a measure")
    _check_whole(_picture(network, marks), network)


@pytest.mark.slow
@pytest.mark.parametrize(("degree", "seed"), [(3, 1), (3, 2), (1, 3), (0, 4)])
def test_nothing_overlaps_among_a_hundred(degree: int, seed: int) -> None:
    """A hundred attributes are still readable."""
    network = random_network(named(100), degree, seed)
    _check_whole(_picture(network, Marks(caption="a hundred")), network)


def test_overlap_would_be_noticed() -> None:
    """Areas that share a spot overlap, those that share a side do not."""
    assert Area(0, 0, 2, 2).overlaps(Area(1, 1, 3, 3))
    assert not Area(0, 0, 2, 2).overlaps(Area(2, 0, 3, 2))
    assert not _apart([Area(0, 0, 2, 2), Area(5, 5, 6, 6), Area(1, 1, 3, 3)])


def test_strong_edges_are_wide_and_clear() -> None:
    """Width and opacity grow with the score, and strong lines lie on top."""
    edges = _picture(random_network(named(12), 3, seed=2)).edges
    scores = [edge.score for edge in edges]
    assert len(scores) > 5
    assert sorted(scores) == scores
    assert sorted({edge.width for edge in edges}) == [edge.width for edge in edges]
    assert sorted({edge.opacity for edge in edges}) == [edge.opacity for edge in edges]


def test_the_same_network_is_drawn_the_same() -> None:
    """Nothing depends on chance or on the order of sets."""
    model = model_of(random_network(named(20), 3, seed=3))
    assert network_svg(model) == network_svg(model)


def test_long_names_are_cut_and_kept_in_titles() -> None:
    """The middle goes, so that ends tell names apart."""
    names = [f"{'household income of the year ' * 4}{year}" for year in (2019, 2020)]
    picture = _picture(Network.without_edges(names))
    assert all(ELLIPSIS in picture.label(name) for name in names)
    assert picture.label(names[0]) != picture.label(names[1])
    assert names == [picture.title(name) for name in names]


def test_names_of_any_signs_are_escaped() -> None:
    """Brackets, quotes, ampersands and line breaks; what XML cannot hold is replaced."""
    names = ["<a> & 'b' \"c\"", "]]>", "&amp;", "a\nb", "\u0416\u0443\u043a", "\u6c49\u5b57"]
    network = Network((Family(names[0]), *(Family(name, (names[0],)) for name in names[1:])))
    picture = _picture(network, Marks(names[:1], names[1], "<caption>"))
    assert {name.replace("\n", " ") for name in names} >= {
        name.replace("\n", " ") for name in picture.nodes
    }
    assert names[0] == picture.label(names[0])
    assert "\ufffd!" == _picture(Network.without_edges(["\x00!"])).label("\ufffd!")
    assert "\ufffd!" == _picture(Network.without_edges(["\ud800!"])).label("\ufffd!")


def test_protected_attributes_and_the_target_are_marked() -> None:
    """In the box's class, in its title and in the legend; others are not."""
    picture = Picture.of(network_svg(model_of(_PAIR), protected=["sex"], target="age"))
    kinds = {name: group.attrib["class"] for name, group in picture.nodes.items()}
    assert {"age": "node target", "sex": "node protected"} == kinds
    assert ("age, target", "sex, protected") == (picture.title("age"), picture.title("sex"))
    plain = {group.attrib["class"] for group in _picture(_PAIR).nodes.values()}
    assert {"node"} == plain


@pytest.mark.parametrize("marks", [{"protected": ["agee"]}, {"target": "agee"}])
def test_marks_on_unknown_attributes_are_refused(marks: dict[str, object]) -> None:
    """By name, with the known ones."""
    with pytest.raises(UsageError, match="'agee' is unknown; known are age, sex"):
        network_svg(model_of(_PAIR), **marks)  # type: ignore[arg-type]


def test_themes_are_light_dark_or_the_readers_own() -> None:
    """Only "auto" asks the reader; another theme is refused."""
    pages = {theme: network_svg(model_of(_PAIR), theme=theme) for theme in ("light", "dark")}
    own = network_svg(model_of(_PAIR))
    assert all("prefers-color-scheme" not in page for page in pages.values())
    assert pages["light"].replace("light", "dark") != pages["dark"]
    assert "@media (prefers-color-scheme: dark)" in own
    with pytest.raises(UsageError, match="theme 'pink' is unknown; use one of auto, light, dark"):
        network_svg(model_of(_PAIR), theme="pink")


def test_pictures_need_nothing_else() -> None:
    """No address but the name of the format itself, no script."""
    svg = network_svg(model_of(_PAIR))
    assert 1 == svg.count("http")
    assert not any(word in svg for word in ("href", "url(", "@import", "<script"))


def test_captions_tell_the_method_the_size_and_the_budget() -> None:
    """In one line; edges say their score when pointed at."""
    svg = network_svg(model_of(_PAIR), strengths=Strengths({("age", "sex"): 0.25}, None))
    assert "privbayes: 2 attributes, 1 edge; ε = 1<" in svg
    assert "<title>age → sex: 0.250</title>" in svg
    assert "total variation distance from independence, exact" in svg


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=60), st.floats(20, 200))
def test_shortened_texts_fit(text: str, most: float) -> None:
    """Whatever they hold, and untouched where they fit already."""
    short = shortened(text, 13, most)
    assert text_width(short, 13) <= most or short == ELLIPSIS
    assert short == " ".join(text.split()) or ELLIPSIS in short


def _leaves_ink_beyond(text: str, place: float, family: str) -> bool:
    """Whether a text of size 40 that begins at 0 is seen to the right of a place."""
    page = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{} -60 300 90">{}</svg>'
    line = f'<text font-family="sans-serif" font-size="40">{escape(text)}</text>'
    seen, empty = (
        resvg_py.svg_to_bytes(svg_string=page.format(place, x), sans_serif_family=family)
        for x in (line, "")
    )
    return bytes(seen) != bytes(empty)


@pytest.mark.parametrize(
    "text",
    [
        *("native_country", "hours per week", "WWWMMM", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"),
        *("abcdefghijklmnopqrstuvwxyz", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…", "ÄÖÜäöüßéèñçøÅ"),
        *("ЖЩЮжщю", "ΑΒΓΔΩαβγδω"),
    ],
)
def test_widths_are_upper_bounds(text: str) -> None:
    """What a font of this machine draws keeps to them, and comes near."""
    family = png._family(resvg_py)
    width = text_width(text, 40)
    assert is_bounded(text)
    assert not _leaves_ink_beyond(text, width + 1, family)
    assert _leaves_ink_beyond(text, width * 0.6, family)


def test_widths_of_single_letters_are_upper_bounds() -> None:
    """Each printable sign of ASCII, ten times over."""
    family, signs = png._family(resvg_py), string.ascii_letters + string.digits + string.punctuation
    too_wide = [s for s in signs if _leaves_ink_beyond(s * 10, text_width(s * 10, 40) + 1, family)]
    assert [] == too_wide


def test_pixels_are_those_of_the_drawing() -> None:
    """A PNG twice as large as the page; dark differs from light."""
    model = model_of(_PAIR)
    light, dark = network_png(model), network_png(model, theme="dark")
    page = Picture.of(network_svg(model)).page
    size = [int.from_bytes(light[i : i + 4], "big") for i in (16, 20)]
    assert b"\x89PNG\r\n\x1a\n" == light[:8]
    assert [2 * page.right, 2 * page.bottom] == size
    assert light != dark


def test_large_pictures_are_kept_in_bounds() -> None:
    """A long chain is scaled down instead of filling the memory."""
    assert 1.0 > png._largest_scale('<svg class="a" width="82" height="101960" role="img">')
    assert 2.0 < png._largest_scale('<svg class="a" width="820" height="900" role="img">')


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """PNG needs resvg; SVG needs nothing."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match=r"pip install 'understudy\[pictures\]'"):
        network_png(model_of(_PAIR))
    assert network_svg(model_of(_PAIR)).startswith("<svg")


def test_a_machine_without_fonts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than given a picture without names."""
    monkeypatch.setattr(png, "_FAMILIES", ("No Such Font",) * 4)
    png._family.cache_clear()
    with pytest.raises(UsageError, match=r"no known font is installed.*write an \.svg file"):
        network_png(model_of(_PAIR))
