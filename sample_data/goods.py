"""Invents products: lines of neighbouring models, their colour and capacity variants, and accessories."""

from dataclasses import dataclass, replace
from itertools import count
from random import Random

from product_words import BRANDS, CATEGORIES, LINES, Category

_SERIES = ((45, 10), (120, 20), (300, 50), (1100, 100), (510, 5), (7, 1), (62, 2), (2030, 10))


@dataclass(frozen=True)
class Product:
    """One article. `variant` names the properties (colour, capacity) that distinguish it from its siblings."""

    entity: int
    family: int
    brand: str
    line: str
    nouns: tuple[str, ...]
    model: str
    price: float
    specs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    colour: str = ""
    capacity: str = ""
    variant: tuple[str, ...] = ()
    fits: str = ""


class Factory:
    """Makes product lines; no two products share a model number unless they are variants of one model."""

    def __init__(self, rng: Random):
        self.rng = rng
        self.entities, self.families = count(), count()
        self.prefixes: set[str] = set()

    def line(self, category: Category, brand: str, name: str) -> list[Product]:
        """Five or six models, each a small step above the last, with variants and accessories for some."""
        family, prefix = next(self.families), self._prefix()
        start, step = self.rng.choice(_SERIES)
        features = tuple(self.rng.sample(category.features, 4))
        low = self.rng.uniform(category.low_price, (category.low_price + category.high_price) / 2)
        suffix = self.rng.choice(("", "", "", "t", "e", "w"))
        products: list[Product] = []
        for index in range(self.rng.randint(4, 6)):
            model = Product(
                entity=next(self.entities),
                family=family,
                brand=brand,
                line=name,
                nouns=category.nouns,
                model=f"{prefix}{start + step * index}{suffix}",
                price=_shelf_price(low * (1 + 0.13 * index)),
                specs=tuple(_step(self.rng, spec, index) for spec in category.specs),
                features=(*features[:2], self.rng.choice(features[2:])),
                colour=self.rng.choice(category.colours) if category.colours else "",
                capacity=self.rng.choice(category.capacities) if category.capacities else "",
            )
            products += self._variants(category, model)
            if self.rng.random() < 0.3:
                products.append(self._accessory(category, model))
        return products

    def _variants(self, category: Category, model: Product) -> list[Product]:
        """The model alone, or with a sibling of another colour or capacity (the larger one costs more)."""
        luck = self.rng.random()
        if category.capacities and luck < 0.7:
            small, large = sorted(self.rng.sample(range(len(category.capacities)), 2))
            model = replace(model, capacity=category.capacities[small], variant=("capacity",))
            return [model, self._sibling(model, 1.28, capacity=category.capacities[large])]
        if category.colours and luck < 0.4:
            model = replace(model, variant=("colour",))
            other = self.rng.choice([colour for colour in category.colours if colour != model.colour])
            return [model, self._sibling(model, 1.0, colour=other)]
        return [model]

    def _sibling(self, model: Product, dearer: float, **change: str) -> Product:
        return replace(model, entity=next(self.entities), price=_shelf_price(model.price * dearer), **change)

    def _accessory(self, category: Category, model: Product) -> Product:
        extra = self.rng.choice(category.extras)
        code = f"{self.rng.choice('abcdeklmnpst')}{self.rng.choice('bcp')}-{model.model.split('-')[-1]}"
        return Product(
            entity=next(self.entities),
            family=model.family,
            brand=model.brand,
            line="",
            nouns=(extra,),
            model=code,
            price=_shelf_price(self.rng.uniform(9, min(79, model.price * 0.4))),
            fits=model.model,
        )

    def _prefix(self) -> str:
        """Letters and a hyphen, as on the label: sv-hd, kdx-, tr-."""
        while True:
            head = "".join(self.rng.sample("bcdfghklmnprstvxz", self.rng.choice((2, 2, 3))))
            tail = "".join(self.rng.sample("acdefhlprsvx", self.rng.choice((0, 1, 1, 2))))
            if (prefix := f"{head}-{tail}") not in self.prefixes:
                self.prefixes.add(prefix)
                return prefix


def make_goods(rng: Random, lines_per_category: int) -> list[Product]:
    """The whole assortment."""
    factory = Factory(rng)
    products: list[Product] = []
    for category in CATEGORIES:
        brands = rng.sample(BRANDS, lines_per_category - 1)
        for brand in (*brands, brands[0]):  # one brand has two lines of the same goods
            products += factory.line(category, brand, rng.choice(LINES))
    return products


def _step(rng: Random, spec: str, index: int) -> str:
    """Better models get higher values, though neighbouring models often have the same."""
    rungs = spec.split("/")
    return rungs[min(len(rungs) - 1, max(0, index * len(rungs) // 6 + rng.choice((0, 0, 1))))]


def _shelf_price(price: float) -> float:
    return int(price) + 0.99 if price < 150 else round(price / 10) * 10 - 0.01
