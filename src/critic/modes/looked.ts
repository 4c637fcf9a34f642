import { type Found, findingOf, sorted } from '../finding.js';
import type { Checked } from '../checks/check.js';
import type { Examined, ModeInput } from '../mode.js';
import type { Evidence, Finding, Section } from '../shapes.js';
import type { ModeName } from '../strategies.js';

/** Of a list in a section; the findings have the rest. */
const listedMax = 40;

export function faultsOf(checked: readonly Checked[]): Found[] {
  return checked.flatMap(({ faults }) => faults);
}

/**
 * Faults as findings of a mode. Of source code its lines are quoted as they stand in the tree, where the tree holds the
 * same text. `known`: what earlier modes have said already, by rule and line, is not said again.
 */
export async function findingsOf(
  mode: ModeName,
  faults: readonly Found[],
  input: ModeInput,
  isCode: boolean,
  known: ReadonlySet<string> = new Set(),
): Promise<Finding[]> {
  const { artifact, ground } = input;
  const isThere = isCode && (await ground?.read(artifact.path)) === artifact.text;
  const lines = isThere ? artifact.text.split('\n') : [];
  const isNew = (fault: Found): boolean =>
    !known.has(`${fault.rule} ${fault.place?.line_start ?? 0}`);
  const isSecret = (fault: Found): boolean => fault.rule.startsWith('SECRET_');
  return sorted(
    faults.filter(isNew).map((fault) => {
      const quotes = isThere && fault.place !== undefined && !isSecret(fault);
      const evidence = quotes ? [lineOf(artifact.path, lines, fault.place)] : [];
      return findingOf(mode, { ...fault, evidence: fault.evidence ?? evidence });
    }),
  );
}

function lineOf(
  path: string,
  lines: readonly string[],
  { line_start, line_end }: NonNullable<Found['place']> = { line_start: 1, line_end: 1 },
): Evidence {
  const content = lines.slice(line_start - 1, line_end).join('\n');
  return { file_path: path, line_start, line_end, content, blob: '', symbol: '' };
}

/** What earlier modes found, by rule and line. */
export function knownBy(before: ModeInput['before']): ReadonlySet<string> {
  return new Set(
    before.flatMap(({ findings }) =>
      findings.map(({ rule, line_start }) => `${rule} ${line_start}`),
    ),
  );
}

export function listed(lines: readonly string[], none: string): string {
  if (lines.length === 0) return none;
  const rest = lines.length - listedMax;
  const more = rest > 0 ? [`- and ${rest} more, see the findings`] : [];
  return [...lines.slice(0, listedMax).map((line) => `- ${line}`), ...more].join('\n');
}

export function told({ rule, line_start, text }: Finding): string {
  return `${line_start === 0 ? '' : `line ${line_start}: `}${text} (${rule})`;
}

/** A mode's own answer; what is not named is empty. */
export function examinedOf(found: Partial<Examined>): Examined {
  const empty: Examined = {
    sections: [],
    findings: [],
    score: null,
    unable: [],
    abort: '',
    dropped: 0,
  };
  return { ...empty, ...found };
}

export function sectionsOf(texts: Readonly<Record<string, string>>): Section[] {
  return Object.entries(texts).map(([title, text]) => ({ title, text }));
}
