import { createHash } from 'node:crypto';
import type { RuleDigests } from '../mine/fact-store.js';
import { minerVersion } from '../format/facts.js';
import { overlayNames, type OverlayName } from '../shapes.js';

/** The producer of an overlay. `version` changes whenever the same sources would give other items. */
export interface Generator {
  overlay: OverlayName;
  name: string;
  version: string;
  what: string;
}

const mined = `miner-${minerVersion}`;

export const generators: Readonly<Record<OverlayName, Generator>> = {
  O1: of('O1', 'structure', 'symbols with signature, range and visibility; imports'),
  O2: of('O2', 'security', 'weaknesses by rule, the attack surface, secrets (never their value)'),
  O3: of('O3', 'lineage', 'calls with their sites, functions in structures of operations'),
  O4: of('O4', 'mission', 'documents, overviews, who looks after what'),
  O5: of('O5', 'operations', 'how to build, configure, run, test and deploy'),
  O6: of('O6', 'mathematics', 'assertions, locking rules, bounds, invariants, complexity'),
  O7: of('O7', 'coherence', 'where documents, code and configuration contradict each other'),
};

/** Overlays in a file of their own. O1 and the calls of O3 are in the segment, which everything needs. */
export const filedOverlays = [
  'O2',
  'O4',
  'O5',
  'O6',
  'O7',
] as const satisfies readonly OverlayName[];

export type FiledOverlay = (typeof filedOverlays)[number];

/** Rules of the tree for a language of the shard change its O2, so they change the version. */
export function generatorVersion(
  overlay: OverlayName,
  rules: RuleDigests,
  languages: readonly string[],
): string {
  const { version } = generators[overlay];
  const own = Object.entries(rules)
    .filter(([language]) => languages.includes(language))
    .sort();
  if (overlay !== 'O2' || own.length === 0) return version;
  return `${version}+${createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 8)}`;
}

export function overlayNumber(overlay: OverlayName): number {
  return overlayNames.indexOf(overlay) + 1;
}

function of(overlay: OverlayName, name: string, what: string): Generator {
  return { overlay, name, version: mined, what };
}
