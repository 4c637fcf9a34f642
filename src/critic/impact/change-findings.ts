import { findingOf } from '../finding.js';
import type { ModeInput } from '../mode.js';
import type { Finding } from '../shapes.js';
import type { ModeName } from '../strategies.js';
import { changeOf } from './change.js';
import { leftBehind } from './dependents.js';
import { lossesIn } from './lost.js';
import { lossModes } from './loss.js';
import { oncePerArtifact } from './once-per-artifact.js';
import { Quotes } from './quote.js';

const prefixes: Readonly<Partial<Record<ModeName, string>>> = {
  ...{ fmea: 'FMEA', 'pre-mortem': 'PM', 'red-team': 'RT', inversion: 'INV' },
  'devils-advocate': 'DA',
};

const kinds = Object.keys(lossModes);
const lossesOf = oncePerArtifact(async (asked, ground) => {
  const change = await changeOf(asked.artifact, ground);
  if (change === undefined) return undefined;
  const losses = [...(await leftBehind(change, asked, ground)), ...lossesIn(change)];
  losses.sort((one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind));
  return { change, losses };
});

/** What the artifact changes in the tree's version of it, as far as this mode reports it. */
export async function changeFindings(mode: ModeName, input: ModeInput): Promise<Finding[]> {
  const { ground, signal } = input;
  if (ground === undefined || signal.aborted) return [];
  const found = await lossesOf(input, ground);
  if (found === undefined) return [];
  const { path, before } = found.change;
  const quotes = new Quotes(input.ground, input.artifact);
  const findings: Finding[] = [];
  for (const loss of found.losses) {
    if (lossModes[loss.kind] !== mode) continue;
    const { kind, severity, text, remedy, words, line, line_end, places } = loss;
    findings.push(
      findingOf(mode, {
        rule: `${prefixes[mode] ?? ''}_${kind.replaceAll('-', '_').toUpperCase()}`,
        ...{ severity, text, remedy, words },
        place: { line_start: line, line_end },
        evidence: await quotes.ofTree(places, { [path]: before.code.text }),
      }),
    );
  }
  return findings;
}
