// Artifacts with faults that were put into them: which of them a review finds, and what it says of nothing.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { modes } from '../../dist/src/critic/modes.js';
import { examine, faultsOf } from './critic-review.mjs';

/** Lines around a fault in which a finding speaks of it. */
const nearLines = 1;
/** A finding that spans more lines speaks of a fault only where it names it. */
const spanMax = 12;

/** Corpora of a folder: project, path, and faults `{ kind, from, to, names }`. */
export function readCorpora(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => {
      const corpus = parse(readFileSync(path.join(folder, name), 'utf8'));
      const { file } = corpus.source;
      return {
        ...{ name: name.replace(/\.yaml$/, ''), ...corpus },
        text: file === undefined ? undefined : readFileSync(path.join(folder, file), 'utf8'),
      };
    });
}

/** All faults at once, with the lines that they got. Throws where one does not fit the text exactly once. */
export function seeded(original, faults) {
  const places = faults.map((fault) => {
    const at = original.indexOf(fault.from);
    if (at < 0 || original.indexOf(fault.from, at + 1) >= 0)
      throw new Error(`${fault.kind} does not stand there once: ${fault.from}`);
    return { ...fault, at };
  });
  let text = '';
  let read = 0;
  const placed = [];
  for (const { from, to, at, ...fault } of places.sort((one, other) => one.at - other.at)) {
    if (at < read) throw new Error(`${fault.kind} overlaps the one before it`);
    text += original.slice(read, at);
    const [begin, end] = differing(from.split('\n'), to.split('\n'));
    const line = text.split('\n').length;
    text += to;
    read = at + from.length;
    placed.push({ ...fault, line_start: line + begin, line_end: line + end });
  }
  return { text: text + original.slice(read), faults: placed };
}

/** First and last of the lines that are other ones, from 0. */
function differing(from, to) {
  let head = 0;
  while (head < from.length && head < to.length && from[head] === to[head]) head += 1;
  let tail = 0;
  while (
    tail < from.length - head &&
    tail < to.length - head &&
    from.at(-1 - tail) === to.at(-1 - tail)
  )
    tail += 1;
  return [Math.min(head, Math.max(0, to.length - 1)), Math.max(head, to.length - 1 - tail)];
}

/** Original and faulty version by all modes, each told what was said before it. */
export async function measure(ground, corpus) {
  const original = corpus.text ?? (await ground.read(corpus.path));
  if (original === undefined) throw new Error(`${corpus.path} is not in the tree`);
  const { text, faults } = seeded(original, corpus.faults);
  const sound = await review(ground, corpus.path, original);
  const faulty = await review(ground, corpus.path, text);
  const fresh = freshOf(faulty.findings, sound.findings);
  const told = fresh.map((finding) => ({ finding, fault: meant(finding, faults) }));
  return {
    name: corpus.name,
    faults: faults.map((fault) => ({
      ...fault,
      by: told.filter((each) => each.fault === fault).map(({ finding }) => finding),
    })),
    wrong: told.filter(({ fault }) => fault === undefined).map(({ finding }) => finding),
    sound: sound.findings,
    broken: [...sound.broken, ...faulty.broken],
  };
}

/** Those that were not there before. */
function freshOf(findings, before) {
  const known = counted(before.map(keyOf));
  return findings.filter((finding) => {
    const left = known.get(keyOf(finding)) ?? 0;
    known.set(keyOf(finding), left - 1);
    return left <= 0;
  });
}

/** Of each commit what is said of taking it back, and of making it. */
export async function mendsOf(ground, file) {
  const found = [];
  for (const { commit, path: name, set, mend } of parse(readFileSync(file, 'utf8'))) {
    const at = (revision) =>
      execFileSync('git', ['-C', ground.root, 'show', `${revision}:${name}`], { encoding: 'utf8' });
    const [before, after] = [at(`${commit}~1`), at(commit)];
    const said = async (tree, artifact) => {
      const its = withFile(ground, name, tree);
      const [same, other] = [await review(its, name, tree), await review(its, name, artifact)];
      return freshOf(other.findings, same.findings);
    };
    found.push({
      ...{ commit, path: name, set, mend },
      takenBack: await said(after, before),
      made: await said(before, after),
    });
  }
  return found;
}

/** The tree with one of its files as it was once. Its index is that of today. */
function withFile(ground, name, text) {
  return {
    root: ground.root,
    questions: ground.questions,
    paths: () => ground.paths(),
    read: async (path) => (path === name ? text : await ground.read(path)),
    committed: (path) => (path === name ? Promise.resolve(text) : ground.committed(path)),
  };
}

export async function review(ground, artifactPath, text) {
  const before = [];
  const broken = [];
  for (const name of modes.keys()) {
    const examined = await examine(ground, artifactPath, text, name, before);
    broken.push(...(await faultsOf(ground, name, examined)));
    before.push({ mode: name, strategy: '', ...examined });
  }
  return { findings: before.flatMap(({ findings }) => findings), broken };
}

/** Of the same thing in another version: figures of lines move. */
function keyOf({ mode, rule, text }) {
  return `${mode} ${rule} ${text.replaceAll(/\d+/g, '#')}`;
}

function counted(keys) {
  const counts = new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** The fault on whose line it stands, or which it names. */
function meant({ line_start, line_end, text }, faults) {
  const isShort = line_end - line_start < spanMax;
  const touches = (fault, lines) =>
    line_start > 0 && line_start <= fault.line_end + lines && line_end >= fault.line_start - lines;
  const names = ({ names = [] }) => names.some((name) => text.includes(name));
  return (
    faults.find((fault) => isShort && touches(fault, nearLines) && names(fault)) ??
    faults.find((fault) => isShort && touches(fault, 0)) ??
    faults.find((fault) => isShort && touches(fault, nearLines)) ??
    faults.find((fault) => touches(fault, nearLines) && names(fault)) ??
    faults.find(names)
  );
}

/** By kind and by mode, Markdown. */
export function tables(measured) {
  const faults = measured.flatMap((each) => each.faults);
  const wrong = measured.flatMap((each) => each.wrong);
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  const isFound = ({ by }) => by.length > 0;
  const rows = [
    '| artifact | faults | found | wrong findings | findings of the original |',
    '|---|---|---|---|---|',
    ...measured.map(
      (each) =>
        `| ${each.name} | ${each.faults.length} | ${each.faults.filter(isFound).length} | ${each.wrong.length} | ${each.sound.length} |`,
    ),
    `| all | ${faults.length} | ${faults.filter(isFound).length} | ${wrong.length} | ${measured.flatMap(({ sound }) => sound).length} |`,
    '',
    '| kind | faults | found | by |',
    '|---|---|---|---|',
    ...kinds.map((kind) => {
      const all = faults.filter((fault) => fault.kind === kind);
      const by = [...new Set(all.flatMap((fault) => fault.by.map(({ rule }) => rule)))];
      return `| ${kind} | ${all.length} | ${all.filter(isFound).length} | ${by.join(', ')} |`;
    }),
    '',
    '| mode | faults it finds | only it | findings of no fault |',
    '|---|---|---|---|',
    ...[...modes.keys()].map((mode) => {
      const its = faults.filter(({ by }) => by.some((each) => each.mode === mode));
      const alone = its.filter(({ by }) => by.every((each) => each.mode === mode));
      return `| ${mode} | ${its.length} | ${alone.length} | ${wrong.filter((each) => each.mode === mode).length} |`;
    }),
  ];
  return rows.join('\n');
}
