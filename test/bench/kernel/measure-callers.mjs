import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { mean, milliseconds, percentile, table } from './figures.mjs';
import { cFiles, cscopeVersion, shardOf } from './kernel-tree.mjs';
import { run, runSigma, temporaryFolder } from './process.mjs';

const { functions } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'callers.json'), 'utf8'),
);
const buildMsMax = 300_000;

/**
 * `sigma callers` beside `cscope -dL3` over the same files. Neither is the truth: disagreements are listed.
 * cscope gets its inverted index (-q): its linear search skips calls that lie across its read blocks, so that what it
 * finds changes with the length of the path of the tree.
 */
export async function measureCallers({ root, home, source, check, lattice }) {
  await lattice();
  const cscope = await cscopeVersion();
  const files = cFiles(root);
  const work = temporaryFolder('sigma-cscope');
  const list = path.join(work, 'files');
  const database = path.join(work, 'cscope.out');
  writeFileSync(list, `${files.join('\n')}\n`);
  const startedMs = performance.now();
  const built = await run('cscope', ['-b', '-c', '-k', '-q', '-i', list, '-f', database], {
    cwd: root,
    timeoutMs: buildMsMax,
  });
  if (built.code !== 0) throw new Error(`cscope failed: ${built.stderr.slice(-300)}`);
  const buildMs = performance.now() - startedMs;
  const results = [];
  for (const wanted of functions) {
    const theirs = await askCscope(root, database, wanted.symbol);
    const ours = await askSigma(home, wanted.symbol);
    results.push(compare({ wanted, ours, theirs, source, check }));
  }
  const figures = {
    cscope,
    files: files.length,
    cscope_build_ms: buildMs,
    macro_average: average(results),
    cscope_ms_p50: percentile(
      results.map((each) => each.cscope_ms),
      50,
    ),
    sigma_ms_p50: percentile(
      results.map((each) => each.sigma_ms),
      50,
    ),
    functions: results,
  };
  return { figures, text: render(figures) };
}

async function askCscope(root, database, symbol) {
  const { stdout, code, wallMs, stderr } = await run(
    'cscope',
    ['-d', '-q', '-f', database, '-L3', symbol],
    { cwd: root, timeoutMs: 60_000 },
  );
  if (code !== 0) throw new Error(`cscope -L3 ${symbol} failed: ${stderr}`);
  const sites = stdout.split('\n').flatMap((row) => {
    const [, file, caller, line] = /^(\S+) (\S+) (\d+) /.exec(row) ?? [];
    return file === undefined ? [] : [{ file, caller, line: Number(line) }];
  });
  return { sites, wallMs };
}

async function askSigma(home, symbol) {
  const { json, wallMs } = await runSigma(['callers', symbol, '--json'], {
    home,
    timeoutMs: 60_000,
  });
  // cscope knows calls only.
  const calls = (json?.callers ?? []).filter(({ kind }) => kind !== 'slot');
  const sites = calls.map((each) => ({
    file: each.file_path,
    caller: each.symbol || '<global>',
    line: each.line,
  }));
  return {
    sites,
    wallMs,
    definitions: json?.definitions ?? [],
    failed: json?.callers === undefined,
  };
}

function compare({ wanted, ours, theirs, source, check }) {
  const { symbol } = wanted;
  check(`callers ${symbol}: answered`, !ours.failed);
  check(
    `callers ${symbol}: defined in ${wanted.shard}`,
    ours.definitions.some((each) => shardOf(each.file_path) === wanted.shard),
  );
  const nowhere = ours.sites.filter((site) => !source.holdsWord(site.file, site.line, symbol));
  check(
    `callers ${symbol}: every call site holds the name`,
    nowhere.length === 0,
    nowhere
      .slice(0, 3)
      .map((site) => `${site.file}:${site.line}`)
      .join(', '),
  );
  const byLine = (site) => `${site.file}:${site.line}`;
  const byCaller = (site) => `${site.file} ${site.caller}`;
  const withText = (site) => ({
    ...site,
    text: source.file(site.file)?.raw[site.line - 1]?.trim() ?? '',
  });
  const missing = (from, keys, key) => from.filter((site) => !keys.has(key(site))).map(withText);
  return {
    ...wanted,
    ours: ours.sites.length,
    cscope: theirs.sites.length,
    lines: agreement(ours.sites, theirs.sites, byLine),
    callers: agreement(ours.sites, theirs.sites, byCaller),
    only_ours: missing(ours.sites, new Set(theirs.sites.map(byLine)), byLine),
    only_cscope: missing(theirs.sites, new Set(ours.sites.map(byLine)), byLine),
    other_caller: otherCallers(ours.sites, theirs.sites, byLine).map(withText),
    sigma_ms: ours.wallMs,
    cscope_ms: theirs.wallMs,
  };
}

/** Lines on which both find a call, but not inside the same functions. */
function otherCallers(ours, theirs, key) {
  const callersOf = (sites) => {
    const callers = new Map();
    for (const site of sites)
      callers.set(key(site), (callers.get(key(site)) ?? new Set()).add(site.caller));
    return callers;
  };
  const mine = callersOf(ours);
  const others = callersOf(theirs);
  const seen = new Set();
  return ours.flatMap((site) => {
    const at = key(site);
    const [here, there] = [mine.get(at), others.get(at)].map((each) =>
      [...(each ?? [])].sort().join(' '),
    );
    if (there === '' || here === there || seen.has(at)) return [];
    seen.add(at);
    return [{ ...site, caller: here, cscope_caller: there }];
  });
}

/** Of nothing asked and nothing found, both are 1. */
function agreement(ours, theirs, key) {
  const mine = new Set(ours.map(key));
  const others = new Set(theirs.map(key));
  const both = [...mine].filter((each) => others.has(each)).length;
  return {
    recall: others.size === 0 ? 1 : both / others.size,
    precision: mine.size === 0 ? (others.size === 0 ? 1 : 0) : both / mine.size,
  };
}

function average(results) {
  const of = (pick) => mean(results.map(pick));
  return {
    lines: {
      recall: of((each) => each.lines.recall),
      precision: of((each) => each.lines.precision),
    },
    callers: {
      recall: of((each) => each.callers.recall),
      precision: of((each) => each.callers.precision),
    },
  };
}

function render(figures) {
  const share = (value) => value.toFixed(3);
  const cells = ({ lines, callers }) => [
    share(lines.recall),
    share(lines.precision),
    share(callers.recall),
    share(callers.precision),
  ];
  return [
    table([
      [
        'CALLERS',
        'SHARD',
        'LINKAGE',
        'OURS',
        'CSCOPE',
        'RECALL',
        'PRECISION',
        'RECALL(F)',
        'PRECISION(F)',
      ],
      ...figures.functions.map((each) => [
        each.symbol,
        each.shard,
        each.linkage,
        each.ours,
        each.cscope,
        ...cells(each),
      ]),
      ['macro average', '', '', '', '', ...cells(figures.macro_average)],
    ]),
    `${figures.files} files; (F): on (file, enclosing function) pairs; command p50: sigma ${milliseconds(figures.sigma_ms_p50)} ms, cscope ${milliseconds(figures.cscope_ms_p50)} ms after a build of ${milliseconds(figures.cscope_build_ms)} ms`,
    ...figures.functions.flatMap((each) => [
      ...each.only_ours.map((site) => `  only ours    ${describe(each, site)}`),
      ...each.only_cscope.map((site) => `  only cscope  ${describe(each, site)}`),
      ...each.other_caller.map(
        (site) => `  other caller ${describe(each, site)}  (cscope: ${site.cscope_caller})`,
      ),
    ]),
  ].join('\n');
}

function describe({ symbol }, { file, line, caller, text }) {
  return `${symbol}  ${file}:${line}  in ${caller}  ${text}`;
}
