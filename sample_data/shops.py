"""How two shops describe the same goods: one writes sentences, the other squeezes the label into a line."""

from random import Random

from goods import Product, make_goods
from workload import Mixture, Record, Workload, make_workload

COLUMNS = ("name", "brand", "description", "price")

_STORE_LOOKS = (
    "{brand} {line} {noun} {traits} - {model}",
    "{brand} {traits} {noun} - {model}",
    "{brand} {model} {line} {noun} {traits}",
)
_OUTLET_LOOKS = (
    "{brand} {code} {noun} {traits}",
    "{brand} {line} {noun} {code} {traits}",
    "{code} - {brand} {line} {traits} {noun}",
    "{brand} {line} {traits} {noun} w/ {spec} {code}",
    "{line} {code} {noun} by {brand} {traits}",
)
_OUTLET_LOOKS_WITHOUT_CODE = (
    "{brand} {line} {noun} w/ {spec} {traits}",
    "{brand} {line} {traits} {noun}, {spec}",
)
_ACCESSORY_LOOKS = (
    "{code} {noun} f/ {brand} {fits}",
    "{brand} {noun} ({fits} compatible) {code}",
    "{noun} for {brand} {fits}, {code}",
)


def two_shops(rng: Random) -> Workload:
    """Both shops carry part of the assortment; what both carry is a match."""
    left, right = [], []
    for product in make_goods(rng, lines_per_category=7):
        place = rng.random()
        if place < 0.85:
            left.append(_record(product, store_listing(rng, product)))
        if place > 0.22:
            right.append(_record(product, outlet_listing(rng, product)))
    return make_workload(rng, COLUMNS, left, right, Mixture(matches=330, family=800, near=900, loose=970))


def store_listing(rng: Random, product: Product) -> tuple[str, ...]:
    """The first shop: tidy names that end in the model number, and full sentences."""
    noun = product.nouns[0]
    if product.fits:
        name = f"{product.brand} {noun} for {product.fits} - {product.model}"
        text = f"{product.brand} {noun} {product.model}. designed for the {product.brand} {product.fits}."
        return name, product.brand, text, _price(rng, product.price, 0.0, 0.25)
    look = rng.choice(_STORE_LOOKS)
    traits = " ".join(filter(None, (product.capacity, product.colour)))
    name = look.format(brand=product.brand, line=product.line, noun=noun, traits=traits, model=product.model)
    return _tidy(name), product.brand, _sentences(rng, product), _price(rng, product.price, 0.0, 0.25)


def outlet_listing(rng: Random, product: Product) -> tuple[str, ...]:
    """The second shop: the model number rewritten, or left to the description; brand and price often lost."""
    code = rewritten(rng, product.model)
    hidden = not product.fits and rng.random() < 0.25
    told = _told_in_name(rng, product)
    name = (
        _accessory_name(rng, product, code)
        if product.fits
        else _outlet_name(rng, product, "" if hidden else code, told)
    )
    facts = _facts(rng, product, code if hidden else "", told)
    brand = rng.choices((product.brand, f"{product.brand} inc.", f"{product.brand} usa", ""), (70, 8, 7, 15))[0]
    if product.brand not in name and not brand:
        brand = product.brand
    return _tidy(name), brand, facts, _price(rng, product.price, 0.06, 0.4)


def rewritten(rng: Random, model: str) -> str:
    """sv-hd45 as printed, closed up, or spaced out."""
    return rng.choice((model, model.replace("-", ""), model.replace("-", ""), model.replace("-", " ")))


def _told_in_name(rng: Random, product: Product) -> list[str]:
    """Colour and capacity in the name; what distinguishes variants may move to the description, but is never lost."""
    traits = [trait for trait in ("capacity", "colour") if getattr(product, trait)]
    return [trait for trait in traits if rng.random() < 0.55]


def _outlet_name(rng: Random, product: Product, code: str, told: list[str]) -> str:
    noun = rng.choice(product.nouns)
    look = rng.choice(_OUTLET_LOOKS if code else _OUTLET_LOOKS_WITHOUT_CODE)
    traits = " ".join(getattr(product, trait) for trait in told)
    traits = f"({traits})" if traits and rng.random() < 0.3 else traits
    spec = rng.choice(product.specs)
    return look.format(brand=product.brand, line=product.line, noun=noun, code=code, traits=traits, spec=spec)


def _accessory_name(rng: Random, product: Product, code: str) -> str:
    fits = rewritten(rng, product.fits)
    look = rng.choice(_ACCESSORY_LOOKS)
    return look.format(brand=product.brand, noun=product.nouns[0], code=code, fits=fits)


def _facts(rng: Random, product: Product, code: str, told: list[str]) -> str:
    """A line of facts, or nothing when the name already says all that is needed."""
    untold = [getattr(product, trait) for trait in product.variant if trait not in told]
    if not code and not untold and rng.random() < 0.3:
        return ""
    if product.fits:
        return f"fits {product.brand} {rewritten(rng, product.fits)}"
    facts = [*rng.sample(product.specs, min(2, len(product.specs))), *rng.sample(product.features, rng.randint(1, 2))]
    facts += untold
    rng.shuffle(facts)
    if code:
        facts.insert(rng.choice((0, len(facts))), rng.choice(("model {}", "mfr part {}", "{}")).format(code))
    return rng.choice((" - ", "; ", ", ")).join(facts)


def _sentences(rng: Random, product: Product) -> str:
    specs, features = list(product.specs), list(product.features)
    rng.shuffle(features)
    text = f"{product.brand} {product.model} {rng.choice(product.nouns)} with {', '.join(specs[:-1])} and {specs[-1]}. "
    text += f"{', '.join(features[:-1])} and {features[-1]}."
    traits = [f"{product.capacity} capacity"] if product.capacity else []
    traits += [rng.choice(("{} finish", "color: {}")).format(product.colour)] if product.colour else []
    return " ".join([text, *(f"{trait}." for trait in traits)])


def _price(rng: Random, price: float, spread: float, missing: float) -> str:
    if rng.random() < missing:
        return ""
    return f"{price * (1 + rng.uniform(-spread, spread)):.2f}"


def _tidy(name: str) -> str:
    return " ".join(name.split()).replace(" ,", ",").strip(" -,")


def _record(product: Product, values: tuple[str, ...]) -> Record:
    return Record(product.entity, product.family, values)
