import { CSource } from '../kernel/c-source.mjs';
import { mean, table } from '../kernel/figures.mjs';
import { useOf } from './call-text.mjs';
import { CscopeLines } from './cscope-lines.mjs';
import { Sample } from './random.mjs';
import { tagsOf } from './tags.mjs';
import { linesWith } from './text-search.mjs';

const deadlineMs = 60_000;
const spare = 4;
/** Texts kept in memory at once. */
const filesMax = 400;
/** Of every class of disagreements so many are shown. */
const examplesMax = 12;
const cFile = /\.[ch]$/;

/**
 * Call sites (file and line) of 500 functions that ctags has once and as nothing else, uniformly drawn. Raw: every
 * site of ours that is no slot, beside cscope. By the text: only what is a direct call by the text of the line counts,
 * on either side; what both lack is found by a search of all C files for the names.
 */
export async function measureCalls({ product, peers, seed, count, rulings }) {
  const names = await functionsOnce({ peers, seed, count });
  const cscope = new CscopeLines(await peers.cscope(), peers.root);
  const judge = new Judge(peers.root, rulings);
  const asked = [];
  for (const name of names) {
    const theirs = (await cscope.callers(name)).sites;
    const answer = await product.questions.callers({ symbol: name }, { deadlineMs });
    const calls = answer.callers.filter(
      ({ kind, file_path }) => kind !== 'slot' && cFile.test(file_path),
    );
    const ours = calls.map(({ file_path, line, kind }) => ({ file: file_path, line, kind }));
    asked.push({ name, ours: sitesOf(ours), theirs: sitesOf(theirs), text: new Map() });
  }
  cscope.close();
  const byName = new Map(asked.map((each) => [each.name, each]));
  for (const { name, ...site } of await linesWith(names, { root: peers.root, list: peers.list }))
    byName.get(name)?.text.set(keyOf(site), site);
  const judged = judge.all(asked);
  const indexed = new Set(product.ports.flatMap(({ index }) => pathsOf(index)));
  const figures = figuresOf(judged);
  return { figures, text: render(figures, classesOf(judged, indexed)) };
}

/** Functions that ctags has once; a macro of the same name would make it two things. */
export async function functionsOnce({ peers, seed, count }) {
  const tagFile = await peers.tags();
  const sample = new Sample(seed + 2, count * spare);
  for await (const { name, tag } of tagsOf(tagFile, peers.root)) if (tag === 'f') sample.add(name);
  const times = new Map(sample.values().map((name) => [name, 0]));
  for await (const { name } of tagsOf(tagFile, peers.root))
    if (times.has(name)) times.set(name, times.get(name) + 1);
  return [...times].flatMap(([name, each]) => (each === 1 ? [name] : [])).slice(0, count);
}

const keyOf = ({ file, line }) => `${file}:${line}`;

function sitesOf(sites) {
  return new Map(sites.map((site) => [keyOf(site), site]));
}

function pathsOf(index) {
  return Array.from({ length: index.fileCount }, (_, file) => index.file(file).path);
}

function grouped(rows, keyOfRow) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(keyOfRow(row));
    if (group === undefined) groups.set(keyOfRow(row), [row]);
    else group.push(row);
  }
  return groups;
}

/** What every line is by its text, files in their order so that few are in memory at a time. */
class Judge {
  #source;

  constructor(root, rulings) {
    this.rulings = rulings;
    this.#source = new CSource(root, filesMax);
  }

  all(asked) {
    const rows = asked.flatMap(({ name, ours, theirs, text }) =>
      [...new Map([...text, ...theirs, ...ours])].map(([key, { file, line }]) => ({
        ...{ name, file, line, kind: ours.get(key)?.kind ?? '' },
        ...{ isOurs: ours.has(key), isTheirs: theirs.has(key) },
      })),
    );
    rows.sort((one, other) => (one.file < other.file ? -1 : one.file > other.file ? 1 : 0));
    return rows.map((row) => ({ ...row, ...this.#look(row) }));
  }

  #look({ name, file, line, isOurs, isTheirs }) {
    const byRule = useOf(this.#source, file, line, name);
    const side = isOurs ? 'ours' : isTheirs ? 'cscope' : 'text';
    const ruling =
      isOurs && isTheirs ? undefined : this.rulings.of('call', side, { name, file, line });
    const isCall = ruling === undefined ? byRule === 'call' : ruling.verdict === 'right';
    const text = this.#source.file(file)?.raw[line - 1]?.trim() ?? '';
    return { use: byRule, isCall, ruling, text };
  }
}

function figuresOf(rows) {
  const names = grouped(rows, ({ name }) => name);
  const raw = agreement(
    names,
    (row) => row.isOurs,
    (row) => row.isTheirs,
  );
  const direct = (row) => row.isOurs && row.kind === 'direct';
  const ours = agreement(names, direct, (row) => row.isCall);
  const theirs = agreement(
    names,
    (row) => row.isTheirs,
    (row) => row.isCall,
  );
  return { raw, ours, theirs, names: names.size };
}

/** Micro: of all sites. Macro: the mean of the names that have a site on the side that is asked about. */
function agreement(names, isFound, isTrue) {
  const per = [...names.values()].map((rows) => {
    const found = rows.filter(isFound).length;
    const wanted = rows.filter(isTrue).length;
    return { found, wanted, both: rows.filter((row) => isFound(row) && isTrue(row)).length };
  });
  const sum = (field) => per.reduce((total, each) => total + each[field], 0);
  const share = (field) =>
    mean(per.flatMap((each) => (each[field] > 0 ? [each.both / each[field]] : [])));
  return {
    ...{ found: sum('found'), wanted: sum('wanted'), both: sum('both') },
    micro: { recall: sum('both') / sum('wanted'), precision: sum('both') / sum('found') },
    macro: { recall: share('wanted'), precision: share('found') },
  };
}

/** Every disagreement in one class, by what the text says of its line. */
function classesOf(rows, indexed) {
  const named = rows.flatMap((row) => {
    const isOurs = row.isOurs && row.kind === 'direct';
    if (isOurs === row.isTheirs && row.isCall === isOurs) return [];
    const sides = [isOurs ? 'ours' : '', row.isTheirs ? 'cscope' : '']
      .filter(Boolean)
      .join(' and ');
    if (sides === '' && !row.isCall) return [];
    const left = indexed.has(row.file) ? '' : ', in a file that is not indexed';
    const says = row.ruling === undefined ? row.use : `${row.ruling.reason} (by hand)`;
    return [{ ...row, of: `${sides === '' ? 'neither' : `only ${sides}`}: ${says}${left}` }];
  });
  return [...grouped(named, (row) => row.of)].sort(([, a], [, b]) => b.length - a.length);
}

function render({ raw, ours, theirs, names }, classes) {
  const cells = ({ found, wanted, both, micro, macro }) => [
    ...[found, wanted, both],
    ...[micro.recall, micro.precision, macro.recall, macro.precision].map((each) =>
      each.toFixed(3),
    ),
  ];
  const head = [
    'CALLS',
    'FOUND',
    'WANTED',
    'BOTH',
    'RECALL',
    'PRECISION',
    'RECALL/F',
    'PRECISION/F',
  ];
  return [
    table([
      head,
      ['ours beside cscope, raw', ...cells(raw)],
      ['ours beside the text', ...cells(ours)],
      ['cscope beside the text', ...cells(theirs)],
    ]),
    `${names} of the functions stand anywhere at all; /F: mean over functions, the others over all sites`,
    ...classes.flatMap(([of, rows]) => [
      `${rows.length} ${of}`,
      ...rows
        .slice(0, examplesMax)
        .map(({ name, file, line, text }) => `    ${name}  ${file}:${line}  ${text.slice(0, 100)}`),
    ]),
  ].join('\n');
}
