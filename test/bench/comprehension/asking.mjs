// Questions of this folder, and the code bases that they are asked to.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { halfOf, treeOf } from '../../oracle/sources.mjs';
import { load, openProduct } from '../retrieval/product.mjs';
import { textsBelow } from '../retrieval/text-search.mjs';

const answerMsMax = 60_000;
const { citationsMax } = await load('src/pgc/shapes.js');
const { saidRole } = await load('src/pgc/source/role.js');

/** Those of a file, of some code bases (`only`, by their short names) or of one half. */
export function questionsIn(file, { only, half } = {}) {
  const names = only?.split(',');
  return readFileSync(path.resolve(import.meta.dirname, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((each) => ({ ...each, half: halfOf(each.repo) }))
    .filter((each) => names?.includes(path.basename(each.repo)) !== false)
    .filter((each) => each.half === (half ?? each.half));
}

/** Opens one code base after the other, at its commit: `visit(product, its questions, root)`; `shards`: into how many it is split. */
export async function eachCodeBase(questions, { sources, home, shards }, visit) {
  for (const repo of new Set(questions.map((each) => each.repo))) {
    const its = questions.filter((each) => each.repo === repo);
    const { root, commit } = await treeOf({ name: repo, commit: its[0].commit }, sources);
    if (commit !== its[0].commit) throw new Error(`${root} is at ${commit}`);
    process.stderr.write(`${repo}: indexing\n`);
    const product = await openProduct(root, home, { plan: shards });
    await visit(product, its, root);
  }
}

/** The ways to ask: each gives an answer. */
export const ways = {
  'sigma ask': ({ questions }, question) =>
    questions.ask({ question, overlays: [], top_k: citationsMax }, { deadlineMs: answerMsMax }),
  'sigma lattice query': ({ questions }, question) =>
    questions.query({ question, from: '' }, { deadlineMs: answerMsMax }),
};

/** Of a whole answer: the statuses of its clauses, each once; `not_found` also where it says so as a whole. */
export function statusOf({ clauses, errors }) {
  const statuses = [...new Set(clauses.map(({ status }) => status))].sort();
  const isNotFound = errors.some(({ code }) => code === 'NOT_FOUND') || statuses.length === 0;
  return isNotFound ? 'not_found' : statuses.join(' ');
}

/** Where a hit of a search is; a type is seen by its head, not by all that it holds. */
export function placesOfHit(index, { symbol, file }) {
  if (symbol === undefined) return [];
  const { name, kind, line_start: from, line_end } = index.symbolPlace(symbol);
  const to = /^(?:function|method)$/.test(kind) ? line_end : Math.min(line_end, from + 2);
  return [{ path: index.file(file).path, symbols: [name], lines: [from, to] }];
}

/** What is there after all would make a right answer look wrong. */
export function checkAbsent(product, its, root) {
  const { info } = product.shards[0].index;
  const isSource = (file) => product.definitions.in(file).length > 0 && saidRole(info, file) === '';
  const sources = textsBelow(root).filter(({ path: file }) => isSource(file));
  for (const { id, absent: pattern } of its.filter((each) => each.absent !== undefined)) {
    const words = new RegExp(pattern, 'i');
    const held = sources.find((each) => words.test(each.text));
    if (held !== undefined) throw new Error(`${id}: ${held.path} has ${words.exec(held.text)[0]}`);
  }
}
