// Calls that cross shards: those that the oracle has, does the product have them? Those that the product has, are
// they true?
import { mean, percentile, milliseconds, table } from '../kernel/figures.mjs';
import { place } from '../kernel/c-source.mjs';
import { useOf } from '../lookup/call-text.mjs';
import { hashOf } from '../lookup/random.mjs';
import { performance } from 'node:perf_hooks';

const deadlineMs = 60_000;
/** Functions are drawn until enough of them have such a call: one in three does. */
const functionsPerEdge = 8;

/** `count` calls on either side, one of a function. */
export async function measureTopology({ product, oracle, plan, seed, count }) {
  const topology = await product.topology({}, { deadlineMs });
  const pairs = new Set(topology.edges.map(({ from, to }) => `${from} ${to}`));
  const asked = new Asked(product);
  const { edges, left } = await oracleEdges({ oracle, plan, seed, count });
  const recalled = [];
  for (const edge of edges) recalled.push(await recall(edge, asked, pairs, plan));
  const { claims, functions } = await productEdges({ oracle, plan, seed, count, asked });
  const judged = await judgeAll(claims, oracle, pairs);
  const figures = figuresOf({ recalled, judged, left, functions, asked, topology });
  return { figures, text: render(figures, recalled, judged) };
}

class Asked {
  times = [];
  #product;

  constructor(product) {
    this.#product = product;
  }

  async callees({ file, name }) {
    const startedMs = performance.now();
    const answer = await this.#product.callees({ symbol: `${file}#${name}` }, { deadlineMs });
    this.times.push(performance.now() - startedMs);
    return answer;
  }
}

/** Of functions drawn from all .c files, one call each whose callee is one function in the tree, in another shard. */
async function oracleEdges({ oracle, plan, seed, count }) {
  const edges = [];
  const left = new Map();
  for (const caller of await oracle.functions(seed, count * functionsPerEdge)) {
    if (edges.length === count) break;
    const from = plan.aliasOf(caller.file);
    const calls = (await oracle.callsOf(caller)).filter(
      ({ to }) => from !== undefined && plan.aliasOf(to.file) !== from,
    );
    const call = drawn(calls, seed);
    if (call === undefined) continue;
    const doubt = (await oracle.isOnce(call.name, call.to))
      ? oracle.doubt(caller, call)
      : 'cscope has several definitions';
    if (doubt === undefined)
      edges.push({ caller, ...call, from, into: plan.aliasOf(call.to.file) });
    else left.set(doubt, [...(left.get(doubt) ?? []), { caller, ...call }]);
  }
  return { edges, left };
}

function drawn(calls, seed) {
  const hash = ({ file, line, name }) => hashOf(seed, `${file}:${line} ${name}`);
  return calls.sort((one, other) => hash(one) - hash(other))[0];
}

async function recall(edge, asked, pairs) {
  const answer = await asked.callees(edge.caller);
  const rows = answer.callees.filter(({ symbol }) => symbol === edge.name);
  const isRight = ({ definition }) => place(definition).file === edge.to.file;
  const found = rows.some(isRight);
  const hasPair = pairs.has(`${edge.from} ${edge.into}`);
  const here = rows.filter(({ line }) => line === edge.line);
  return { ...edge, found, hasPair, cause: found ? '' : causeOf(answer, rows, here), rows };
}

function causeOf({ definitions, errors }, rows, here) {
  const codes = errors.map(({ code }) => code);
  if (definitions.every(({ declaration }) => declaration))
    return `the caller is not known (${codes.join()})`;
  if (rows.length === 0) return 'the call is not known';
  const [row] = here.length > 0 ? here : rows;
  return row.definition === '' ? `no definition was chosen (${row.kind})` : 'another definition';
}

/** What the product says of functions drawn in the same way: one call each that leads into another shard. */
async function productEdges({ oracle, plan, seed, count, asked }) {
  const claims = [];
  let functions = 0;
  for (const caller of await oracle.functions(seed + 1, count * functionsPerEdge)) {
    if (claims.length === count) break;
    functions += 1;
    const { callees } = await asked.callees(caller);
    const from = plan.aliasOf(caller.file);
    const calls = callees.flatMap(({ symbol, file_path, line, definition, kind }) => {
      if (definition === '' || kind === 'slot') return [];
      const into = plan.aliasOf(place(definition).file);
      if (file_path !== caller.file || into === from) return [];
      return [{ name: symbol, file: file_path, line, to: place(definition), from, into, kind }];
    });
    const call = drawn(calls, seed);
    if (call !== undefined) claims.push({ caller, ...call });
  }
  return { claims, functions };
}

async function judgeAll(claims, oracle, pairs) {
  const known = await oracle.definitions([...new Set(claims.map(({ name }) => name))]);
  const cscope = await oracle.cscope();
  const judged = [];
  for (const claim of claims) {
    const objection = await objectionTo(claim, known.get(claim.name), oracle, cscope);
    const sites = await cscope.callers(claim.name);
    const isInCscope = sites.sites.some(
      ({ file, line }) => file === claim.file && line === claim.line,
    );
    const hasPair = pairs.has(`${claim.from} ${claim.into}`);
    judged.push({ ...claim, objection, isInCscope, hasPair });
  }
  return judged;
}

/** Why a call is not true; undefined when it is. */
export async function objectionTo({ name, file, line, to }, all, oracle, cscope) {
  const use = useOf(oracle.source, file, line, name);
  if (use !== 'call' && use !== 'mention') return `the line shows a ${use}`;
  // A macro's name without brackets behind it may still stand for a call.
  if (!oracle.source.holdsWord(file, line, name)) return 'the line does not hold the name';
  const isTagged = all.some((each) => each.file === to.file && Math.abs(each.line - to.line) <= 6);
  if (!isTagged && oracle.source.definesAt(to.file, to.line, name) === undefined)
    return 'no definition at that place';
  const hidden = oracle.hidden(file, to, name);
  if (hidden !== undefined) return hidden;
  const own = all.find((each) => each.file === file && each.tag === 'f');
  if (own !== undefined) return `the file has its own, line ${own.line}`;
  return betterOf({ name, file, to }, all, oracle, cscope);
}

/** Of several functions of one name, the one that is meant shares a header with the caller that declares it. */
async function betterOf({ name, file, to }, all, oracle, cscope) {
  if (to.file.endsWith('.h')) return undefined;
  const others = all.filter(
    (each) =>
      each.tag === 'f' &&
      each.file !== to.file &&
      each.file.endsWith('.c') &&
      oracle.hidden(file, each, name) === undefined,
  );
  if (others.length === 0) return undefined;
  const headers = (await cscope.symbols(name))
    .map((each) => each.file)
    .filter((each) => each.endsWith('.h') && oracle.includes.of(file).has(each));
  const shares = (each) => headers.some((header) => oracle.includes.of(each).has(header));
  const better = others.filter((each) => shares(each.file));
  return better.length > 0 && !shares(to.file)
    ? `${better[0].file}:${better[0].line} shares a header that declares it`
    : undefined;
}

function figuresOf({ recalled, judged, left, functions, asked, topology }) {
  const share = (rows, isIt) => mean(rows.map((row) => (isIt(row) ? 1 : 0)));
  return {
    edges: recalled.length,
    recall: share(recalled, ({ found, hasPair }) => found && hasPair),
    recall_calls: share(recalled, ({ found }) => found),
    recall_pairs: share(recalled, ({ hasPair }) => hasPair),
    left_out: Object.fromEntries([...left].map(([why, rows]) => [why, rows.length])),
    left_out_examples: [...left].map(([why, rows]) => `${why}: ${sideOf(rows[0])}`),
    claims: judged.length,
    claims_from_functions: functions,
    precision: share(judged, ({ objection }) => objection === undefined),
    precision_pairs: share(judged, ({ hasPair }) => hasPair),
    claims_in_cscope: share(judged, ({ isInCscope }) => isInCscope),
    shards: topology.shards.length,
    topology_edges: topology.edges.length,
    callees_p50_ms: percentile(asked.times, 50),
    callees_p99_ms: percentile(asked.times, 99),
  };
}

const sideOf = ({ file, line, name, to }) => `${file}:${line} ${name} -> ${to.file}:${to.line}`;

function render(figures, recalled, judged) {
  const missed = recalled.filter(({ found, hasPair }) => !found || !hasPair);
  const causes = grouped(missed, ({ cause, hasPair, found }) =>
    found && !hasPair ? 'no edge in the topology' : cause,
  );
  const untrue = judged.filter(({ objection }) => objection !== undefined);
  const objections = grouped(untrue, ({ objection }) => objection.replace(/\S+:\d+|\d+/g, '…'));
  const shares = (value) => value.toFixed(4);
  const shown = ({ rows, line }) =>
    rows
      .filter((row) => row.line === line || rows.length < 3)
      .slice(0, 2)
      .map((row) => `line ${row.line} ${row.kind} -> ${row.definition || 'nothing'}`)
      .join(', ') || 'nothing of that name';
  return [
    table([
      ['EDGES', 'SAMPLE', 'SHARE'],
      ['of the oracle: call and topology', figures.edges, shares(figures.recall)],
      ['of the oracle: call', figures.edges, shares(figures.recall_calls)],
      ['of the oracle: pair of shards', figures.edges, shares(figures.recall_pairs)],
      ['of the product: true', figures.claims, shares(figures.precision)],
      ['of the product: in its topology', figures.claims, shares(figures.precision_pairs)],
      ['of the product: also in cscope', figures.claims, shares(figures.claims_in_cscope)],
    ]),
    `callees: p50 ${milliseconds(figures.callees_p50_ms)} ms, p99 ${milliseconds(figures.callees_p99_ms)} ms; ` +
      `topology: ${figures.shards} shards, ${figures.topology_edges} edges`,
    'left out by the rules of the oracle:',
    ...Object.entries(figures.left_out).map(([why, rows]) => `    ${rows} ${why}`),
    ...figures.left_out_examples.map((each) => `        ${each}`),
    `missed (${missed.length}):`,
    ...causes.flatMap(([cause, rows]) => [
      `  ${rows.length} ${cause}`,
      ...rows.map(
        (row) => `      oracle ${sideOf(row)} in ${row.caller.name}; product: ${shown(row)}`,
      ),
    ]),
    `not true (${untrue.length}):`,
    ...objections.flatMap(([why, rows]) => [
      `  ${rows.length} ${why}`,
      ...rows.map((row) => `      ${sideOf(row)} in ${row.caller.name} (${row.objection})`),
    ]),
  ].join('\n');
}

export function grouped(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups].sort(([, one], [, other]) => other.length - one.length);
}
