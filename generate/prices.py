#!/usr/bin/env python3
"""Writes src/catalog/usage/prices.json from the price lists of LiteLLM's packages on PyPI.

    python3 generate/prices.py DATE FOLDER > src/catalog/usage/prices.json

FOLDER has one folder for each version, unpacked (`pip download litellm==VERSION --no-deps`; the wheel is a zip file). Of a
model that several versions have the newest counts: newer lists leave out models that are no longer sold. What a
cache keeps for an hour costs twice the price of input by Anthropic's own rule, and is not taken from the lists, since one of
them contradicts it. Prices are facts; LiteLLM is under the MIT licence. DATE is the day on which the newest version was fetched.
"""
import json
import pathlib
import sys

PROVIDERS = {"anthropic", "openai", "gemini", "xai", "deepseek", "mistral", "zai", "moonshot", "minimax"}
NAMES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
}
TIERS = {"128k": 128_000, "200k": 200_000, "256k": 256_000, "272k": 272_000}


def per_million(value):
    return float(f"{value * 1e6:.6g}")


def price_of(facts):
    price = {name: per_million(facts[of]) for name, of in NAMES.items() if facts.get(of) is not None}
    for label, tokens in TIERS.items():
        ending = f"_above_{label}_tokens"
        above = {name: per_million(facts[of + ending]) for name, of in NAMES.items() if facts.get(of + ending)}
        if above:
            price["above"] = {"tokens": tokens, **above}
            break
    fast = (facts.get("provider_specific_entry") or {}).get("fast")
    if fast:
        price["fast"] = fast
    return price


def main():
    date, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    versions = [path.name for path in folder.iterdir() if (path / "litellm").is_dir()]
    versions.sort(key=lambda version: [int(part) for part in version.split(".")])
    models = {}
    for version in versions:
        path = folder / version / "litellm" / "model_prices_and_context_window_backup.json"
        for name, facts in json.loads(path.read_text()).items():
            name = name.split("/")[-1]
            is_chat = facts.get("mode") in ("chat", "responses") and ":" not in name
            is_priced = all(facts.get(NAMES[kind]) for kind in ("input", "output"))
            if is_chat and is_priced and facts.get("litellm_provider") in PROVIDERS:
                kept = models.get(name, {})
                models[name] = price_of(facts)
                # A later list may leave out what an earlier one says of tiers that are no longer sold.
                if "fast" in kept and "fast" not in models[name]:
                    models[name]["fast"] = kept["fast"]
    sources = [f"LiteLLM {version}, model_prices_and_context_window_backup.json (MIT), from PyPI" for version in versions]
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(price)}" for name, price in sorted(models.items()))
    sources = ",\n".join(f"    {json.dumps(source)}" for source in sources)
    print(f'{{\n  "date": "{date}",\n  "sources": [\n{sources}\n  ],\n  "models": {{\n{rows}\n  }}\n}}')


main()
