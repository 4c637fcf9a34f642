import { holds, notChecked, wrong, type Verdict } from './claim.js';
import type { Looking } from './looking.js';
import { lineOf } from './words.js';

/** Does the manifest have this version: of the package itself, or of the Node.js that it needs? */
export async function lookUpVersion(
  { tree }: Looking,
  name: string,
  value: string,
): Promise<Verdict> {
  const manifest = await tree.manifest();
  if (manifest === undefined) return notChecked('There is no package.json.');
  const { file, text, json } = manifest;
  if (name !== 'node' && name !== json['name']) return notChecked(`${file} is of another package.`);
  const engines = json['engines'] as Record<string, unknown> | undefined;
  const key = name === 'node' ? 'engines' : 'version';
  const stated = name === 'node' ? engines?.['node'] : json['version'];
  if (typeof stated !== 'string') return notChecked(`${file} does not say.`);
  const evidence = await tree.evidence(file, lineOf(text, Math.max(0, text.indexOf(`"${key}"`))));
  const reason = `${file} says ${stated}.`;
  const isSame =
    versionsIn(value).length > 1
      ? value.replaceAll(/\s/g, '') === stated.replaceAll(/\s/g, '')
      : versionsIn(stated).some((each) => isSameVersion(each, versionsIn(value)[0] ?? ''));
  return isSame ? holds(reason, evidence) : wrong(reason, `Say ${stated}.`, evidence);
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
