import { readFileSync } from 'node:fs';
import path from 'node:path';
import { milliseconds, table } from './figures.mjs';
import { describeLink, isLink, objectionsToSteps, objectionsToVia } from './links.mjs';
import { runSigma } from './process.mjs';

const asked = JSON.parse(readFileSync(path.join(import.meta.dirname, 'questions.json'), 'utf8'));
export const questions = asked.questions;

/** Multi-hop questions and traces; every link, citation and edge is held against the source. */
export async function measureQuestions(bench) {
  await bench.lattice();
  const answers = [];
  for (const question of questions) answers.push(await judgeQuestion(bench, question));
  const traces = [];
  for (const trace of asked.traces) traces.push(await judgeTrace(bench, trace));
  return { figures: { questions: answers, traces }, text: render(answers, traces) };
}

/** Every answer of every question, for those who want its citations. */
export async function answersOf({ home }) {
  const answers = [];
  for (const { id, question } of questions) {
    const { json, stderr } = await query(home, question);
    if (json?.hops === undefined) throw new Error(`no answer to ${id}: ${stderr}`);
    answers.push(json);
  }
  return answers;
}

function query(home, question) {
  return runSigma(['lattice', 'query', question, '--json'], { home, timeoutMs: 60_000 });
}

async function judgeQuestion({ home, source, check }, wanted) {
  const { json: answer, code, wallMs, stderr } = await query(home, wanted.question);
  // To refuse a question whose premise is false is an answer too.
  if (wanted.mayRefuse === true && answer?.error?.code === 'NOT_FOUND')
    return { id: wanted.id, question: wanted.question, answered: false, refused: true };
  if (!check(`${wanted.id}: answered`, code === 0 && Array.isArray(answer?.hops), stderr))
    return { id: wanted.id, question: wanted.question, answered: false };

  const vias = answer.hops.flatMap((hop) => (hop.via === null ? [] : [hop.via]));
  const links = vias.map((via) => ({
    symbol: via.symbol,
    from: via.from,
    to: via.to,
    objections: objectionsToVia(source, via),
  }));
  const isTrue = links.every((link) => link.objections.length === 0);
  check(
    `${wanted.id}: every link is true`,
    isTrue,
    links.flatMap((link) => link.objections).join('; '),
  );

  const visited = answer.safety.visited_agents;
  const absent = wanted.agents.filter((agent) => !visited.includes(agent));
  check(`${wanted.id}: visits ${wanted.agents.join(', ')}`, absent.length === 0, `not ${absent}`);

  const missing = wanted.links.filter(
    (alternatives) => !alternatives.some((link) => vias.some((via) => isLink(via, link))),
  );
  const missingText = missing.map((each) => each.map(describeLink).join(' or '));
  check(
    `${wanted.id}: holds the links it must`,
    missing.length === 0,
    `without ${missingText.join('; ')}`,
  );

  const citations = answer.hops.flatMap((hop) => hop.citations);
  const never = citations.filter((citation) => asked.neverCited.includes(citation.file_path));
  const untrue = citations.map((each) => source.objectionTo(each)).filter(Boolean);
  check(
    `${wanted.id}: its citations stand in the files`,
    untrue.length === 0 && never.length === 0,
    untrue.join('; '),
  );

  const verdicts = await verified(home, citations);
  check(
    `${wanted.id}: sigma verify finds its citations valid`,
    verdicts.valid === citations.length,
    JSON.stringify(verdicts),
  );

  const complaints = answer.errors.map((each) => each.code);
  check(
    `${wanted.id}: complete`,
    answer.partial === false && complaints.length === 0,
    complaints.join(', '),
  );
  return {
    id: wanted.id,
    question: wanted.question,
    answered: true,
    visited_agents: visited,
    agents_asked: answer.agents_asked,
    confidence: answer.confidence,
    elapsed_ms: answer.elapsed_ms,
    cli_ms: wallMs,
    links,
    missing_agents: absent,
    missing_links: missingText,
    continuous_links: vias.filter((via) => isContinuous(answer.hops, via)).length,
    citations: citations.length,
    verdicts,
    answer: answer.answer,
  };
}

/** Does the way into the next shard begin where the answer was: at a symbol cited or entered in the shard before? */
function isContinuous(hops, via) {
  const before = hops.find((hop) => hop.agent === via.from_agent);
  const start = via.chain[0]?.symbol;
  return (
    before !== undefined &&
    (before.via?.symbol === start || before.citations.some((each) => each.symbol === start))
  );
}

async function verified(home, citations) {
  const counts = { valid: 0, stale: 0, false: 0 };
  if (citations.length === 0) return counts;
  const { json } = await runSigma(['verify', '-', '--json'], {
    home,
    timeoutMs: 60_000,
    input: JSON.stringify(citations),
  });
  for (const { status } of json?.results ?? []) counts[status] += 1;
  return counts;
}

async function judgeTrace({ home, source, check }, { from, to, found }) {
  const { json, wallMs } = await runSigma(['trace', from, to, '--json'], {
    home,
    timeoutMs: 60_000,
  });
  const name = `trace ${from} ${to}`;
  check(
    `${name}: ${found ? 'found' : 'not found'}`,
    json?.found === found,
    JSON.stringify(json?.errors),
  );
  const steps = json?.path ?? [];
  const objections = objectionsToSteps(source, steps);
  if (json?.found === true && !(isAt(steps[0], from) && isAt(steps.at(-1), to)))
    objections.push(`it leads from ${steps[0]?.symbol} to ${steps.at(-1)?.symbol}`);
  check(`${name}: every edge is true`, objections.length === 0, objections.join('; '));
  return {
    from,
    to,
    found: json?.found ?? null,
    path: steps,
    objections,
    agents: [...new Set(steps.map((step) => step.agent))],
    elapsed_ms: json?.elapsed_ms ?? null,
    cli_ms: wallMs,
  };
}

/** `end`: a name, or `path#name` where several files define it. */
function isAt(step, end) {
  return step !== undefined && (step.symbol === end || `${step.file_path}#${step.symbol}` === end);
}

function render(answers, traces) {
  const rows = answers.map((each) =>
    each.answered
      ? [
          each.id,
          each.visited_agents.join(' '),
          `${each.links.filter((link) => link.objections.length === 0).length}/${each.links.length}`,
          `${each.continuous_links}/${each.links.length}`,
          each.missing_links.length + each.missing_agents.length,
          `${each.verdicts.valid}/${each.citations}`,
          each.confidence,
          milliseconds(each.elapsed_ms),
          milliseconds(each.cli_ms),
        ]
      : [each.id, each.refused === true ? 'refused' : 'no answer', '', '', '', '', '', '', ''],
  );
  const links = answers.flatMap((each) => [
    each.id,
    ...(each.links ?? []).map((link) => {
      const verdict =
        link.objections.length === 0 ? 'true ' : `FALSE (${link.objections.join('; ')}) `;
      return `  ${verdict} ${describeLink(link)}`;
    }),
    ...(each.missing_agents ?? []).map((agent) => `  NOT VISITED ${agent}`),
    ...(each.missing_links ?? []).map((link) => `  MISSING ${link}`),
  ]);
  const routes = traces.map((each) => [
    `${each.from} -> ${each.to}`,
    each.found === true ? 'yes' : 'no',
    Math.max(0, each.path.length - 1),
    each.objections.length,
    each.agents.join(' '),
    milliseconds(each.elapsed_ms ?? NaN),
  ]);
  return [
    table([
      ['QUESTION', 'VISITED', 'TRUE', 'CONTINUOUS', 'LACKS', 'VALID', 'CONFIDENCE', 'MS', 'CLI MS'],
      ...rows,
    ]),
    '',
    ...links,
    '',
    table([['TRACE', 'FOUND', 'EDGES', 'FALSE', 'AGENTS', 'MS'], ...routes]),
  ].join('\n');
}
