import { holds, notChecked, wrong, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import type { Tree } from './tree.js';
import { lineOf } from './words.js';

/** Does a manifest have this version: of its package, or of the Node.js that it needs? */
export async function lookUpVersion(
  { tree }: Looking,
  name: string,
  value: string,
): Promise<Verdict> {
  const stated = name === 'node' ? await nodeOf(tree) : await versionOf(tree, name);
  if (stated === undefined) return notChecked(`No manifest of the tree says a version of ${name}.`);
  const { file, version, line } = stated;
  const evidence = await tree.evidence(file, line);
  const reason = `${file} says ${version}.`;
  const isSame =
    versionsIn(value).length > 1
      ? value.replaceAll(/\s/g, '') === version.replaceAll(/\s/g, '')
      : versionsIn(version).some((each) => isSameVersion(each, versionsIn(value)[0] ?? ''));
  return isSame ? holds(reason, evidence) : wrong(reason, `Say ${version}.`, evidence);
}

interface Stated {
  file: string;
  version: string;
  line: number;
}

async function nodeOf(tree: Tree): Promise<Stated | undefined> {
  const { file = '', text = '', json = {} } = (await tree.manifest()) ?? {};
  const version = (json['engines'] as Record<string, unknown> | undefined)?.['node'];
  return typeof version === 'string'
    ? { file, version, line: lineOf(text, Math.max(0, text.indexOf('"engines"'))) }
    : undefined;
}

async function versionOf(tree: Tree, name: string): Promise<Stated | undefined> {
  const own = (await tree.packages()).find((each) => each.name === name);
  if (own === undefined || own.version === '') return undefined;
  const { file, version } = own;
  const text = (await tree.text(file)) ?? '';
  const at = text.search(/^\s*"?version"?\s*[:=]/m);
  return { file, version, line: lineOf(text, Math.max(0, at)) };
}

function versionsIn(range: string): string[] {
  return [...range.matchAll(/\d+(?:\.\d+){0,2}/g)].map(([each]) => each);
}

/** As far as the shorter of the two goes: `20` is `20.19.1`, and `20.0` is `20`. */
function isSameVersion(one: string, other: string): boolean {
  const [parts, others] = [one.split('.'), other.split('.')];
  const rest = parts.length > others.length ? [] : others.slice(parts.length);
  return (
    rest.every((each) => each === '0') &&
    others.slice(0, parts.length).every((each, at) => each === parts[at])
  );
}
