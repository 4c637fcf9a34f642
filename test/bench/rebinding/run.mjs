// Binds a tree after random edits, and as a whole, and compares: `node run.mjs TREE EDITS [--seed n] [--kinds a,b] [--lines n] [--verbose]`.
// Needs `dist` (node deploy/setup.mjs).
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Change } from '../../../dist/src/pgc/bind/change/change.js';
import { bindPointers } from '../../../dist/src/pgc/bind/pointers/bind-pointers.js';
import { farHeaders } from '../../../dist/src/pgc/bind/pointers/far-headers.js';
import { bindProgram } from '../../../dist/src/pgc/bind/program/bind-program.js';
import { bindChange } from '../../../dist/src/pgc/build/binding/bind-change.js';
import { languageRules } from '../../../dist/src/pgc/build/binding/bind-shards.js';
import { BindingWriter } from '../../../dist/src/pgc/build/binding/binding-writer.js';
import { BoundCalls, writeBoundCalls } from '../../../dist/src/pgc/format/bound-calls.js';
import { Chance } from '../../campaign/random.mjs';
import { edits } from './edits.mjs';
import { Tree } from './trees.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    kinds: { type: 'string', default: Object.keys(edits).join(',') },
    lines: { type: 'string', default: '30000' },
    verbose: { type: 'boolean', default: false },
  },
});
const [root, count] = positionals;
const chance = new Chance(Number(values.seed));
const folder = join(tmpdir(), `sigma-rebinding-${process.pid}`);
const tree = await Tree.open(root, folder, Number(values.lines));
const rules = languageRules(tree.manifests);
const languages = new Set([...tree.texts.values()].map(({ file }) => file.language));

let files = 0;

/** As it is read from its file. */
async function boundOf(writer) {
  files += 1;
  const path = join(folder, `${files}.bound`);
  await writeBoundCalls(path, writer.sections());
  return BoundCalls.open(path);
}

function whole(units) {
  const writing = new BindingWriter(units, undefined);
  for (const each of rules)
    if (each.languages.some((language) => languages.has(language)))
      writing.add(bindProgram(units, each));
  if (languages.has('c')) writing.add(bindPointers(units));
  for (const [shard, headers] of farHeaders(units).entries()) writing.include(shard, headers);
  return Promise.all([...writing.end()].map(boundOf));
}

function keyOf({ symbol, path, container, name, kind, line }) {
  return [symbol, path, container, name, kind, line].join('|');
}

function said(bound, site) {
  return [
    bound.bindingOf(site),
    ...new Set(
      bound
        .targetsOf(site)
        .map((id) => keyOf(bound.target(id)))
        .sort(),
    ),
  ].join('\n');
}

function pairsOf(bound) {
  return new Set(
    [...bound.implementations()].map((ids) => ids.map((id) => keyOf(bound.target(id))).join(' > ')),
  );
}

function differences(index, one, other) {
  const found = [];
  for (let site = 0; site < index.siteCount; site += 1) {
    const [its, wanted] = [said(one, site), said(other, site)];
    if (its === wanted) continue;
    const { file, line, callee, kind } = index.site(site);
    found.push(
      `${index.file(file).path}:${line} ${kind} ${callee} ${index.expressionOf(site)}\n  is ${its}\n  should be ${wanted}`,
    );
  }
  const [pairs, others] = [pairsOf(one), pairsOf(other)];
  for (const each of pairs) if (!others.has(each)) found.push(`wrong pair ${each}`);
  for (const each of others) if (!pairs.has(each)) found.push(`missing pair ${each}`);
  const far = (bound) =>
    JSON.stringify(
      [...bound.farHeaders()].map(([header, targets]) => [header, [...targets].sort()]).sort(),
    );
  if (far(one) !== far(other)) found.push(`far headers of ${index.info.alias}`);
  return found;
}

let bound = await whole(tree.units);
const sites = tree.units.reduce((sum, { siteCount }) => sum + siteCount, 0);
console.log(`${root}: ${tree.texts.size} texts, ${tree.units.length} units, ${sites} sites`);
const counts = new Map();
for (let at = 0; at < Number(count); at += 1) {
  const kind = chance.pick(values.kinds.split(','));
  const what = await edits[kind](tree, chance);
  if (what === undefined) continue;
  const old = tree.units.map((index, unit) => ({ index, bound: bound[unit] }));
  await tree.write();
  const same = tree.units.flatMap((index, unit) =>
    index === old[unit]?.index ? [[unit, unit]] : [],
  );
  const start = process.cpuUsage();
  const change = new Change(tree.units, old, same);
  let written = 0;
  const made = [...bindChange(change, rules).end()].map((writer, unit) => {
    if (writer === 'as before') return old[unit].bound;
    written += 1;
    return writer.sections();
  });
  const middle = process.cpuUsage(start);
  const anew = await Promise.all(
    made.map((its) => (its instanceof BoundCalls ? its : boundOf({ sections: () => its }))),
  );
  const wholeStart = process.cpuUsage();
  const wanted = await whole(tree.units);
  const end = process.cpuUsage(wholeStart);
  const found = tree.units.flatMap((index, unit) => differences(index, anew[unit], wanted[unit]));
  const known = counts.get(kind) ?? {
    edits: 0,
    differing: 0,
    sites: 0,
    ms: 0,
    wholeMs: 0,
    written: 0,
  };
  counts.set(kind, known);
  known.edits += 1;
  known.differing += found.length > 0 ? 1 : 0;
  known.sites += found.length;
  known.ms += (middle.user + middle.system) / 1000;
  known.wholeMs += (end.user + end.system) / 1000;
  known.written += written;
  if (found.length > 0 || values.verbose)
    console.log(
      `${at} ${kind} ${what}: ${found.length} of ${change.texts.length} texts, ${written} units\n${found.slice(0, values.verbose ? 3 : 1).join('\n')}`,
    );
  bound = found.length > 0 ? wanted : anew;
}
for (const [kind, { edits: n, differing, sites: s, ms, wholeMs, written }] of [...counts].sort())
  console.log(
    `${kind.padEnd(14)} ${String(n).padStart(4)} edits, ${differing} differ in ${s} sites; ${Math.round(ms / n)} of ${Math.round(wholeMs / n)} ms CPU; ${(written / n).toFixed(1)} units`,
  );
