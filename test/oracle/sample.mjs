// Which symbols and chains are asked about; everything follows from a seed.
import { chance, hashOf } from '../bench/lookup/random.mjs';

/** Symbols of each kind in a code base. */
const sizes = { function: 20, method: 20, 'several definitions': 20, interface: 15 };
/** Of each kind so many have no caller at all, where there are such. */
const uncalledShare = 0.2;
/** Constants, variables, types, functions that are passed on. */
const namedOfKind = 15;
const chainCalls = { min: 2, max: 5 };
/** Of the chains so many cross an interface, where there are such. */
const dispatchShare = 0.3;
const walksPerChain = 400;

/** What the language or its tools run by themselves. */
const runByTools =
  /^(main|init|_|(Test|Benchmark|Example|Fuzz)([A-Z_].*)?|test_.*|setUp|tearDown|__(?!init__)\w+__)$/;

export function drawSymbols(truth, seed) {
  const names = new Map();
  for (const { name } of truth.definitions.values()) names.set(name, (names.get(name) ?? 0) + 1);
  const pools = Object.fromEntries(Object.keys(sizes).map((kind) => [kind, []]));
  for (const [place, definition] of truth.definitions) {
    if (runByTools.test(definition.name)) continue;
    const isOne = names.get(definition.name) === 1;
    const kind = definition.kind === 'interface' || isOne ? definition.kind : 'several definitions';
    pools[kind].push({ place, kind, definition });
  }
  return Object.entries(pools).flatMap(([kind, pool]) => drawn(truth, pool, sizes[kind], seed));
}

function drawn(truth, pool, size, seed) {
  const order = pool
    .map((each) => ({ ...each, at: hashOf(seed, each.place), ...callsOf(truth, each.place) }))
    .sort((one, other) => one.at - other.at || (one.place < other.place ? -1 : 1));
  // Nobody knows whether something has no callers while calls of its name are unbound.
  const uncalled = order.filter((each) => each.isUncalled).slice(0, size * uncalledShare);
  const called = order.filter((each) => each.isCalled).slice(0, size - uncalled.length);
  return [...called, ...uncalled];
}

function callsOf(truth, place) {
  const { static: own, dispatch, foreign, unknown, value } = truth.callersOf(place);
  const calls = own.length + dispatch.length;
  const isUncalled = calls + foreign.length + unknown.length + value.length === 0;
  return { isCalled: calls > 0, isUncalled };
}

/** Of each kind of what is no function, and functions that are used without being called. */
export function drawNamed(truth, seed) {
  // Of other languages no uses are known.
  if (truth.named.size === 0) return [];
  const functions = [...truth.definitions].filter(
    ([place, { kind }]) => kind !== 'interface' && truth.callersOf(place).value.length > 0,
  );
  const pools = {
    constant: [...truth.named].filter(([, { kind }]) => kind === 'constant'),
    variable: [...truth.named].filter(([, { kind }]) => kind === 'variable'),
    attribute: [...truth.named].filter(([, { kind }]) => kind === 'attribute'),
    type: [...truth.named].filter(([, { kind }]) => kind === 'type'),
    'function passed on': functions,
  };
  return Object.entries(pools).flatMap(([kind, pool]) =>
    pool
      .map(([place, definition]) => ({ place, kind, definition, at: hashOf(seed, place) }))
      .sort((one, other) => one.at - other.at || (one.place < other.place ? -1 : 1))
      .slice(0, namedOfKind),
  );
}

/** Chains of true calls: `{ places, crosses }`, no definition twice in one. */
export function drawChains(truth, { seed, count }) {
  const random = chance(seed);
  const places = [...truth.definitions.keys()].sort();
  const chains = new Map();
  const wanted = { dispatch: Math.round(count * dispatchShare), static: 0 };
  wanted.static = count - wanted.dispatch;
  for (let walk = 0; walk < count * walksPerChain && chains.size < count; walk += 1) {
    const length = chainCalls.min + random(chainCalls.max - chainCalls.min + 1);
    const chain = walked(truth, places[random(places.length)], { length, random });
    if (chain === undefined) continue;
    const kind = chain.crosses ? 'dispatch' : 'static';
    const key = chain.places.join();
    if (wanted[kind] === 0 || chains.has(key)) continue;
    wanted[kind] -= 1;
    chains.set(key, chain);
  }
  return [...chains.values()];
}

function walked(truth, start, { length, random }) {
  const places = [start];
  let crosses = false;
  while (places.length <= length) {
    const next = truth
      .calleesOf(places.at(-1))
      .filter(({ target, via }) => via !== 'foreign' && !places.includes(target))
      .filter(({ target }) => truth.definitions.get(target).kind !== 'interface');
    if (next.length === 0) return undefined;
    const call = next[random(next.length)];
    places.push(call.target);
    crosses ||= call.via === 'dispatch';
  }
  return { places, crosses };
}

/** Pairs of which no call leads from the first to the second, though the first calls and the second is called. */
export function drawApart(truth, { seed, count }) {
  const random = chance(seed + 1);
  const places = [...truth.definitions.keys()].sort();
  const starts = places.filter((place) => truth.calleesOf(place).length > 0);
  const ends = places.filter((place) => callsOf(truth, place).isCalled);
  const pairs = [];
  for (let at = 0; at < count * walksPerChain && pairs.length < count; at += 1) {
    const [from, to] = [starts[random(starts.length)], ends[random(ends.length)]];
    if (from === undefined || to === undefined) break;
    if (!reached(truth, from).has(to)) pairs.push({ from, to });
  }
  return pairs;
}

function reached(truth, start) {
  const seen = new Set([start]);
  for (const place of seen) for (const { target } of truth.calleesOf(place)) seen.add(target);
  return seen;
}
