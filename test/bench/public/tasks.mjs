// The questions and repositories of a folder as README.md describes it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { halfOf, treeOf } from '../../oracle/sources.mjs';

/** One repository names two categories of its own; the published sums show how they are counted. */
const categoryOf = { api: 'architecture', keyword: 'symbol' };

export function repositoriesIn(data, only) {
  return JSON.parse(readFileSync(path.join(data, 'repos.json'), 'utf8'))
    .filter(({ name }) => (only ?? [name]).includes(name))
    .map((each) => ({ ...each, half: halfOf(each.github) }));
}

/** What is indexed of a repository, the part of its paths that this leaves out, and its questions. */
export async function tasksOf({ name, github, revision, benchmark_root }, { data, sources }) {
  const given = sources && path.join(path.resolve(sources), name);
  const { root } = given ? { root: given } : await treeOf({ name: github, commit: revision });
  const below = benchmark_root ?? '';
  const folder = path.join(root, below);
  const isThere = ({ path: file }) =>
    [root, folder].some((from) => existsSync(path.join(from, file)));
  const lines = readFileSync(path.join(data, 'dev.jsonl'), 'utf8').trim().split('\n');
  const tasks = lines
    .map(taskOf)
    .filter((each) => each.repo === name && each.targets.some(isThere));
  return { folder, below, tasks };
}

function taskOf(line) {
  const { repo, query, category, relevant, secondary } = JSON.parse(line);
  const targets = [...relevant, ...secondary].map((each) =>
    typeof each === 'string' ? { path: each } : each,
  );
  return { repo, query, category: categoryOf[category] ?? category, targets };
}
