// Questions that need several shards: are the answers complete, is every link of them true, how fast are they?
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { place } from '../kernel/c-source.mjs';
import { mean, milliseconds, percentile, table } from '../kernel/figures.mjs';
import { describeLink, objectionsToVia } from '../kernel/links.mjs';

const deadlineMs = 60_000;
const maxHops = 6;
const topK = 5;
/** Each is asked once for its answer, and so often again for its time. */
const warmRuns = 5;
const longHops = 4;

/** `reported` and `new` are for reporting only, `dev` may be looked at. */
const files = { reported: 'questions.json', new: 'questions-new.json', dev: 'questions-dev.json' };

export function questionsOf(set) {
  const file = files[set];
  if (file === undefined) throw new Error(`there is no set ${set}: ${Object.keys(files)}`);
  return JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8')).questions;
}

export async function measureQuestions({ product, oracle, set }) {
  const questions = questionsOf(set);
  const judged = [];
  for (const wanted of questions)
    judged.push({ ...(await judge(product, oracle, wanted)), times: [] });
  for (let run = 0; run < warmRuns; run += 1)
    for (const [at, { question }] of questions.entries()) {
      const startedMs = performance.now();
      await asked(product, question);
      judged[at].times.push(performance.now() - startedMs);
    }
  const figures = figuresOf(judged);
  return { figures, text: render(figures, judged) };
}

async function asked(product, question) {
  const request = { question, from: '', max_hops: maxHops, top_k: topK };
  try {
    return await product.query(request, { deadlineMs });
  } catch (error) {
    const errors = [{ code: error.code ?? String(error), agent: '' }];
    const empty = { evidence: [], hops: [], query_path: [], partial: false, confidence: '' };
    return { ...empty, errors, metadata: { agents_asked: 0 } };
  }
}

async function judge(product, oracle, wanted) {
  const startedMs = performance.now();
  const answer = await asked(product, wanted.question);
  const firstMs = performance.now() - startedMs;
  const held = heldBy(answer);
  const missing = wanted.needs.filter(({ any }) => !any.some((each) => held.has(each)));
  const all = answer.hops.flatMap(({ via }) => via ?? []);
  const vias = all.filter((via) => !isThroughPointer(answer, via));
  const links = vias.map((via) => ({ via, objections: objectionsToLink(oracle, via) }));
  const untrue = answer.evidence.map((each) => oracle.source.objectionTo(each)).filter(Boolean);
  const unjudged = all.length - vias.length;
  return { ...wanted, answer, firstMs, missing, links, unjudged, untrue };
}

/** The text does not say which function a pointer holds: such a link is counted, and not judged. A line may hold several calls. */
function isThroughPointer({ flow }, { from, symbol, chain }) {
  const certainties = new Map(flow.map((edge) => [`${edge.site} ${edge.to}`, edge.certainty]));
  const inner = chain.slice(1).map((step) => `${step.call_site} ${step.symbol}`);
  return [`${from} ${symbol}`, ...inner].some((call) => certainties.get(call) === 'dispatch');
}

/** Names, paths and path#name of all that the hops show: the ways, their chains and what is cited. */
function heldBy({ hops, evidence }) {
  const held = new Set();
  const add = (symbol, file) =>
    [symbol, file, `${file}#${symbol}`].forEach((each) => held.add(each));
  for (const { symbol, file_path } of evidence) add(symbol, file_path);
  for (const { via } of hops) {
    if (via === null) continue;
    add(via.symbol, place(via.to).file);
    held.add(place(via.from).file);
    for (const { symbol, file_path } of via.chain) add(symbol, file_path);
  }
  return held;
}

/** Both ends by the text, and that the definition can be meant from there. */
function objectionsToLink(oracle, via) {
  const hidden = oracle.hidden(place(via.from).file, place(via.to), via.symbol);
  const steps = via.chain.slice(1).flatMap((step) => {
    const why = oracle.hidden(
      place(step.call_site).file,
      { file: step.file_path, line: step.line },
      step.symbol,
    );
    return why === undefined ? [] : [`${step.call_site} ${step.symbol}: ${why}`];
  });
  return [
    ...objectionsToVia(oracle.source, via),
    ...(hidden === undefined ? [] : [`${via.to} from ${via.from}: ${hidden}`]),
    ...steps,
  ];
}

function figuresOf(judged) {
  const links = judged.flatMap((each) => each.links);
  const times = judged.flatMap((each) => each.times);
  const long = judged.filter(({ answer }) => answer.hops.length >= longHops);
  const longTimes = long.flatMap((each) => each.times);
  return {
    questions: judged.length,
    complete: judged.filter(({ missing }) => missing.length === 0).length,
    parts_held: mean(judged.map(({ needs, missing }) => 1 - missing.length / needs.length)),
    links: links.length,
    links_unjudged: judged.reduce((sum, { unjudged }) => sum + unjudged, 0),
    links_false: links.filter(({ objections }) => objections.length > 0).length,
    citations_false: judged.reduce((sum, { untrue }) => sum + untrue.length, 0),
    partial: judged.filter(({ answer }) => answer.partial).length,
    agents_asked: mean(judged.map(({ answer }) => answer.metadata.agents_asked)),
    agents_visited: mean(judged.map(({ answer }) => answer.query_path.length)),
    first_p50_ms: percentile(
      judged.map(({ firstMs }) => firstMs),
      50,
    ),
    p50_ms: percentile(times, 50),
    p99_ms: percentile(times, 99),
    long: long.length,
    long_p50_ms: percentile(longTimes, 50),
    long_p99_ms: percentile(longTimes, 99),
    by_question: judged.map(({ id, missing, answer, links: its }) => ({
      id,
      complete: missing.length === 0,
      path: answer.query_path,
      links: its.map(({ via }) => describeLink(via)),
    })),
  };
}

function render(figures, judged) {
  const rows = judged.map(({ id, missing, needs, answer, links, times }) => [
    ...[
      id,
      missing.length === 0 ? 'yes' : 'no',
      `${needs.length - missing.length}/${needs.length}`,
    ],
    `${links.filter(({ objections }) => objections.length > 0).length}/${links.length}`,
    ...[
      answer.metadata.agents_asked,
      answer.query_path.length,
      milliseconds(percentile(times, 50)),
    ],
    answer.query_path.join(' '),
  ]);
  return [
    table([['QUESTION', 'COMPLETE', 'PARTS', 'FALSE', 'ASKED', 'VISITED', 'MS', 'PATH'], ...rows]),
    '',
    `complete ${figures.complete} of ${figures.questions} (parts ${figures.parts_held.toFixed(3)}); ` +
      `false links ${figures.links_false} of ${figures.links}, through pointers ${figures.links_unjudged}; untrue citations ${figures.citations_false}; ` +
      `partial ${figures.partial}; asked ${figures.agents_asked.toFixed(1)}, visited ${figures.agents_visited.toFixed(1)} on average`,
    `warm: p50 ${milliseconds(figures.p50_ms)} ms, p99 ${milliseconds(figures.p99_ms)} ms; ` +
      `with ${longHops} hops and more (${figures.long} questions): p50 ${milliseconds(figures.long_p50_ms)} ms, ` +
      `p99 ${milliseconds(figures.long_p99_ms)} ms; first time p50 ${milliseconds(figures.first_p50_ms)} ms`,
    ...judged.flatMap(({ id, missing, links, answer, untrue }) => [
      `${id}${answer.errors.length > 0 ? ` (${answer.errors.map(({ code }) => code).join()})` : ''}`,
      ...links.map(
        ({ via, objections }) =>
          `    ${objections.length === 0 ? 'true ' : 'FALSE'} ${describeLink(via)}` +
          (objections.length === 0 ? '' : ` (${objections.join('; ')})`),
      ),
      ...missing.map(({ what, any }) => `    LACKS ${what}: ${any.slice(0, 4).join(' | ')}`),
      ...untrue.map((each) => `    UNTRUE ${each}`),
    ]),
  ].join('\n');
}
