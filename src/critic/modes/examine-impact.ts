import { findingOf, type Found } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { impactOf } from '../impact/gather.js';
import type { Impact } from '../impact/impact.js';
import { noCode, withoutSubject } from '../impact/phrases.js';
import { Quotes, type CodePlace } from '../impact/quote.js';
import type { Examined, ModeInput } from '../mode.js';
import type { Finding } from '../shapes.js';
import type { ModeName } from '../strategies.js';
import { examinedOf, sectionsOf } from './looked.js';

/** A list, a row of a table, a quote. */
const hasItems = /^(?:[-*|>]|\d+\.) ?\S/m;

/** A finding with the places that show it, before they are quoted. */
export interface Shown extends Omit<Found, 'evidence'> {
  places: readonly CodePlace[];
  /** Not reported where none of its places can be quoted. */
  isQuotedOnly?: boolean;
}

/** What a mode makes of the code that an artifact is about. */
export interface Reading {
  found: readonly Shown[];
  unable: readonly string[];
  /** Texts by title. */
  sections: (findings: readonly Finding[]) => Readonly<Record<string, string>>;
}

/**
 * Runs a mode that looks at the code that an artifact is about: first what the artifact changes, then what the mode reads
 * out of it. Each finding is kept as soon as it is quoted; the signal ends it with those.
 */
export async function examineImpact(
  mode: ModeName,
  input: ModeInput,
  read: (impact: Impact) => Reading | Promise<Reading>,
): Promise<Examined> {
  const impact = await impactOf(input);
  const { found, unable, sections } = await read(impact);
  const findings = await changeFindings(mode, input);
  // Where there was nothing to look at, nothing was found to be missing either.
  const isBlind = withoutSubject(impact).length > 0;
  const examined = (): Examined =>
    examinedOf({
      ...{ findings, sections: sectionsOf(told(sections(findings))) },
      unable: [...impact.unable, ...withoutSubject(impact), ...unable],
      ...(isBlind && findings.length === 0 && { gap: 'NOTHING_LOOKED_AT' as const }),
    });
  const told = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(texts).map(([title, text]) => [
        title,
        isBlind && !hasItems.test(text) ? `Nothing was looked at: ${noCode}.` : text,
      ]),
    );
  const quotes = new Quotes(input.ground, input.artifact);
  for (const { places, isQuotedOnly = false, ...each } of found) {
    if (input.signal.aborted) break;
    const evidence = await quotes.all(places);
    if (isQuotedOnly && evidence.length === 0) continue;
    findings.push(findingOf(mode, { ...each, evidence }));
    input.partial(examined());
  }
  return examined();
}
