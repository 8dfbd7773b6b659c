#!/usr/bin/env python3
"""Writes src/catalog/usage/prices.json from the price lists of LiteLLM's packages on PyPI.

    python3 generate/prices.py DATE FOLDER > src/catalog/usage/prices.json

FOLDER has one folder for each version, unpacked (`pip download litellm==VERSION --no-deps`; the wheel is a zip file). Of a
model that several versions have the newest counts: newer lists leave out models that are no longer sold. What a
cache keeps for an hour costs twice the price of input by Anthropic's own rule, and is not taken from the lists, since one of
them contradicts it. Of Amazon Bedrock's names for Anthropic's models those are taken whose prices are not Anthropic's own, of
Alibaba's those of its own models. An alias such as `claude-3-5-haiku-latest` that the newest list no longer has is left out if a
model has its name with a date: its price is that model's. Prices are facts; LiteLLM is under the MIT licence. DATE is the day
on which the newest version was fetched.
"""
import json
import pathlib
import re
import sys

PROVIDERS = {"anthropic", "openai", "gemini", "xai", "deepseek", "mistral", "zai", "moonshot", "minimax", "dashscope"}
BEDROCK = {"bedrock", "bedrock_converse"}
BEDROCK_NAME = re.compile(r"(?:[a-z-]+\.)?anthropic\.(claude-.+?)(?:-v\d+(?::\d+)?)?")
DATE = re.compile(r"-\d{4,8}")
NAMES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
}
TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


# What a service tier costs is its factor: the lists have the same for input and output.
TIERS = {"priority": "_priority", "flex": "_flex", "batch": "_batches", "ultrafast": "_ultrafast"}
TIERED = {"openai", "anthropic"}
FACTORS = {"fast", *TIERS}


def per_million(value):
    return float(f"{value * 1e6:.6g}")


def prices_of(facts, ending=""):
    return {name: per_million(facts[of + ending]) for name, of in NAMES.items() if facts.get(of + ending) is not None}


def price_of(facts):
    steps = facts.get("tiered_pricing")
    if steps:
        price = prices_of(steps[0])
        price["above"] = [{"tokens": int(step["range"][0]), **prices_of(step)} for step in steps[1:]]
    else:
        price = prices_of(facts)
        # Whatever their numbers: a list of those that were known missed the ones that came later.
        for thousands in sorted(int(found[1]) for found in map(TIER.fullmatch, facts) if found):
            above = {name: price for name, price in prices_of(facts, f"_above_{thousands}k_tokens").items() if price}
            if above:
                price.setdefault("above", []).append({"tokens": 1_000 * thousands, **above})
        if len(price.get("above", [])) == 1:
            price["above"] = price["above"][0]
    fast = (facts.get("provider_specific_entry") or {}).get("fast")
    if fast:
        price["fast"] = fast
    if facts.get("litellm_provider") in TIERED:
        for tier, ending in TIERS.items():
            ratios = {
                round(facts[cost + ending] / facts[cost], 3)
                for cost in (NAMES["input"], NAMES["output"])
                if facts.get(cost) and facts.get(cost + ending)
            }
            if len(ratios) == 1:
                price[tier] = ratios.pop()
    return price


def without_tiers(price):
    return {kind: dollars for kind, dollars in price.items() if kind not in ("above", *FACTORS)}


def is_taken(name, facts):
    """Whether a model is one of the providers', and has a price."""
    if facts.get("mode") not in ("chat", "responses") or ":" in name or facts.get("litellm_provider") not in PROVIDERS:
        return False
    is_own = facts["litellm_provider"] != "dashscope" or name.startswith("qw")
    priced = (facts.get("tiered_pricing") or [facts])[0]
    return is_own and all(priced.get(NAMES[kind]) for kind in ("input", "output"))


def main():
    date, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    versions = [path.name for path in folder.iterdir() if (path / "litellm").is_dir()]
    versions.sort(key=lambda version: [int(part) for part in version.split(".")])
    models, bedrock, newest = {}, {}, set()
    for version in versions:
        path = folder / version / "litellm" / "model_prices_and_context_window_backup.json"
        newest = set()
        for whole, facts in json.loads(path.read_text()).items():
            name = whole.split("/")[-1]
            if is_taken(name, facts):
                newest.add(name)
                kept = models.get(name, {})
                models[name] = price_of(facts)
                # A later list may leave out what an earlier one says of tiers that are no longer sold, such as long inputs
                # to Claude Sonnet 4.5; what was asked before cost that. Where the other prices have changed, it is over.
                new = models[name]
                if "above" in kept and "above" not in new and without_tiers(kept) == without_tiers(new):
                    new["above"] = kept["above"]
                for factor in FACTORS:
                    if factor in kept and factor not in new:
                        new[factor] = kept[factor]
            elif facts.get("litellm_provider") in BEDROCK and BEDROCK_NAME.fullmatch(whole):
                bedrock[whole] = price_of(facts)
    for name in [name for name in models if name.endswith("-latest") and name not in newest]:
        plain = name.removesuffix("-latest")
        if any(other.startswith(plain) and DATE.fullmatch(other.removeprefix(plain)) for other in models):
            del models[name]
    for name, price in bedrock.items():
        own = models.get(BEDROCK_NAME.fullmatch(name)[1])
        if own and price != {kind: own[kind] for kind in own if kind not in FACTORS}:
            models[name] = price
    sources = [f"LiteLLM {version}, model_prices_and_context_window_backup.json (MIT), from PyPI" for version in versions]
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(price)}" for name, price in sorted(models.items()))
    sources = ",\n".join(f"    {json.dumps(source)}" for source in sources)
    print(f'{{\n  "date": "{date}",\n  "sources": [\n{sources}\n  ],\n  "models": {{\n{rows}\n  }}\n}}')


main()
