// Questions drawn from code, and whether two indexes answer them alike.
import { configOf } from '../../bench/lattice/product.mjs';
import { openIndex } from '../../bench/lookup/product.mjs';
import { load } from '../../bench/retrieval/product.mjs';

const { withQuestions } = await load('services/cli/connect.js');
const deadlineMs = 120_000;
const candidatesMax = 20_000;
/** Of ten questions. */
const shares = { callers: 3, callees: 2, definitions: 2, ask: 2, locate: 1 };

/** `count` questions in fixed shares about what the index in `home` holds; half of them about the given files, if any. */
export async function drawn(root, home, { count, random, files = [] }) {
  const { shards } = await openIndex(root, home);
  const all = [];
  const near = [];
  for (const index of shards) {
    const step = Math.max(1, Math.floor(index.symbolCount / candidatesMax));
    for (let symbol = random(step); symbol < index.symbolCount; symbol += 1) {
      const { path } = index.file(index.symbolPlace(symbol).file);
      const isNear = files.includes(path);
      if (symbol % step !== 0 && !isNear) continue;
      const { name, kind, doc } = index.symbol(symbol);
      if (!/^[A-Za-z_]\w{2,}$/.test(name)) continue;
      (isNear ? near : all).push({ name, kind, doc, path });
    }
  }
  const pick = (list) => list[random(list.length)];
  const kinds = Object.entries(shares).flatMap(([kind, share]) => Array(share).fill(kind));
  return Array.from({ length: count }, (_, at) => {
    const pool = at % 2 === 0 && near.length > 0 ? near : all.length > 0 ? all : near;
    const [one, other] = [pick(pool), pick(pool)];
    return { kind: kinds[at % kinds.length], ...asked(one, other, random) };
  });
}

function asked(one, other, random) {
  const said = one.doc.split(/[.\n]/)[0].trim() || `${one.name} in ${one.path}`;
  const questions = [
    `What does ${one.name} do?`,
    `Who calls ${one.name}?`,
    `How does ${one.name} reach ${other.name}?`,
    said,
  ];
  return {
    symbol: one.name,
    question: questions[random(questions.length)],
    report: `${said}\n\n${one.name} fails after ${other.name}: ${other.doc.slice(0, 200)}`,
  };
}

/** The answers of one home, in the order of the questions; each `{ rows, scores }`, or `{ error }`. */
export async function answered(root, home, questions) {
  return withQuestions(configOf(home), root, async (product) => {
    const answers = [];
    for (const each of questions)
      answers.push(
        await answer(product, each).catch((error) => ({ error: error.code ?? String(error) })),
      );
    return answers;
  });
}

async function answer(product, { kind, symbol, question, report }) {
  const options = { deadlineMs };
  if (kind === 'callers' || kind === 'definitions') {
    const { definitions, callers, possible } = await product.callers({ symbol }, options);
    return { rows: kind === 'definitions' ? texts(definitions) : texts([...callers, ...possible]) };
  }
  if (kind === 'callees') {
    const { errors: _, citations: __, ...lists } = await product.callees({ symbol }, options);
    return { rows: texts(Object.values(lists).filter(Array.isArray).flat()) };
  }
  if (kind === 'ask') {
    const { evidence } = await product.ask({ question, overlays: [], top_k: 10 }, options);
    return ranked(evidence, (each) => each.similarity);
  }
  const located = await product.locate({ text: report, limit: 20 }, options);
  return ranked(located.files, (each) => each.score);
}

const rowOf = ({ file_path, path, line, line_start, symbol, name }) =>
  [file_path ?? path, line ?? line_start ?? '', symbol ?? name ?? ''].join(' ');

function ranked(list, scoreOf) {
  return {
    rows: list.map(rowOf).sort(),
    scores: Object.fromEntries(list.map((each) => [rowOf(each), scoreOf(each).toFixed(6)])),
  };
}

function texts(list) {
  return list.map((each) => JSON.stringify(each)).sort();
}

/** `equal` as sets; `tie`: they part only in places that are scored alike; else `different`. */
export function verdictOf(ours, theirs) {
  if (ours.error !== undefined || theirs.error !== undefined)
    return ours.error === theirs.error ? 'equal' : 'different';
  if (JSON.stringify(ours.rows) === JSON.stringify(theirs.rows)) return 'equal';
  if (ours.scores === undefined || ours.rows.length !== theirs.rows.length) return 'different';
  const only = (one, other) => one.rows.filter((row) => !other.rows.includes(row));
  const scores = (one, other) => only(one, other).map((row) => one.scores[row]);
  const of = [...scores(ours, theirs), ...scores(theirs, ours)];
  return new Set(of).size === 1 ? 'tie' : 'different';
}
