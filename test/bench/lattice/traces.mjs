// Chains of calls that are there: does the product find a way, and is every edge of its way true?
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { place } from '../kernel/c-source.mjs';
import { mean, milliseconds, percentile, table } from '../kernel/figures.mjs';
import { objectionsToSteps } from '../kernel/links.mjs';

const deadlineMs = 60_000;
const slowestShown = 5;
/** `{ name, file, line, call }` of each function; `call` is where the one before calls it. */
export const chains = readChains();

export async function measureTraces({ product, oracle }) {
  const asked = [];
  for (const { functions, shards } of chains) {
    const [from, to] = [functions[0], functions.at(-1)];
    const startedMs = performance.now();
    const answer = await product
      .trace({ from: from.name, to: to.name }, { deadlineMs })
      .catch((error) => ({
        found: false,
        path: [],
        errors: [{ code: error.code ?? String(error) }],
      }));
    const ms = performance.now() - startedMs;
    const objections = objectionsToWay(oracle, answer, from, to);
    asked.push({ functions, shards, from, to, answer, ms, objections });
  }
  const figures = figuresOf(asked);
  return { figures, text: render(figures, asked) };
}

/** One list per edge, of what is wrong with it. */
function objectionsToWay(oracle, { found, path: steps }, from, to) {
  if (!found) return [];
  const ends = [steps[0], steps.at(-1)].map((step) => `${step?.file_path}#${step?.symbol}`);
  const wrong = [from, to].filter((each, at) => `${each.file}#${each.name}` !== ends[at]);
  const edges = steps.slice(1).map((step, at) => {
    const hidden = oracle.hidden(place(step.call_site).file, placeOf(step), step.symbol);
    return [
      ...objectionsToSteps(oracle.source, [steps[at], step]),
      ...(hidden === undefined ? [] : [`${step.call_site} ${step.symbol}: ${hidden}`]),
    ];
  });
  return [...edges, ...wrong.map((each) => [`it does not end at ${each.file}#${each.name}`])];
}

const placeOf = ({ file_path: file, line }) => ({ file, line });

function figuresOf(asked) {
  const found = asked.filter(({ answer }) => answer.found);
  const edges = asked.flatMap(({ objections }) => objections);
  const times = asked.map(({ ms }) => ms);
  return {
    chains: asked.length,
    found: found.length / asked.length,
    edges: edges.length,
    edges_true: mean(edges.map((each) => (each.length === 0 ? 1 : 0))),
    shorter: found.filter(({ answer, functions }) => answer.path.length < functions.length).length,
    p50_ms: percentile(times, 50),
    p99_ms: percentile(times, 99),
    max_ms: percentile(times, 100),
  };
}

function render(figures, asked) {
  const way = (functions) => functions.map(({ name, file, line }) => `${name} (${file}:${line})`);
  const missed = asked.filter(({ answer }) => !answer.found);
  const untrue = asked.filter(({ objections }) => objections.some((each) => each.length > 0));
  return [
    table([
      ['TRACES', 'FOUND', 'SHORTER', 'EDGES', 'TRUE', 'P50 MS', 'P99 MS', 'WORST MS'],
      [
        ...[figures.chains, figures.found.toFixed(3), figures.shorter, figures.edges],
        figures.edges_true.toFixed(4),
        ...[figures.p50_ms, figures.p99_ms, figures.max_ms].map(milliseconds),
      ],
    ]),
    'slowest:',
    ...[...asked]
      .sort((one, other) => other.ms - one.ms)
      .slice(0, slowestShown)
      .map(
        ({ from, to, ms, answer }) =>
          `  ${milliseconds(ms)} ms ${from.name} > ${to.name}, ${answer.path.length} functions`,
      ),
    `not found (${missed.length}):`,
    ...missed.map(
      ({ functions, answer }) =>
        `  ${way(functions).join(' > ')}; product: ${answer.errors.map(({ code }) => code).join()}`,
    ),
    `ways with an edge that is not true (${untrue.length}):`,
    ...untrue.flatMap(({ answer, objections }) => [
      `  ${answer.path.map(({ symbol, file_path, line }) => `${symbol} (${file_path}:${line})`).join(' > ')}`,
      ...objections.flat().map((each) => `      ${each}`),
    ]),
  ].join('\n');
}

/** In the file a function is one text: name, place, and the place of the call of it. */
function readChains() {
  const text = readFileSync(path.join(import.meta.dirname, 'chains.json'), 'utf8');
  return JSON.parse(text).chains.map(({ shards, functions }) => ({
    shards,
    functions: functions.map((each) => {
      const [name, at, call = ''] = each.split(' ');
      return { name, ...place(at), call };
    }),
  }));
}
