import { riskOf, type Risk, type Threat } from '../../pgc/analyse/security-blast-radius.js';
import { placesOf } from '../claims/words.js';
import type { Artifact, Severity } from '../shapes.js';
import type { Component, ErrorPlace, FileKnowledge, Impact, Reach } from './impact.js';

/** Rows of one table; the rest is counted below it. */
const rowsMax = 40;

/** A table of Markdown; what is in a cell cannot end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'None.';
  const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const shown = rows.slice(0, rowsMax).map(row);
  const more = rows.length > rowsMax ? [`\n${rows.length - rowsMax} more rows.`] : [];
  return [row(head), row(head.map(() => '---')), ...shown, ...more].join('\n');
}

export function bullets(lines: readonly string[], none = 'None.'): string {
  return lines.length === 0 ? none : lines.map((line) => `- ${line}`).join('\n');
}

export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Who uses it, in a clause. */
export function usersOf(reach: Reach): string {
  const { consumers, direct, isMore, agents, callers, alike } = reach;
  if (consumers === 0)
    return alike.users.length === 0
      ? 'no user found'
      : `none for sure; calls of a member of its name: ${sitesOf(alike.users)}`;
  const names = callers.map(
    ({ symbol, file_path, line }) => `\`${symbol || file_path}\` (${file_path}:${line})`,
  );
  const shards = agents.length > 1 ? ` in the shards ${listed(agents, 4)}` : '';
  const near = direct === consumers ? 'direct' : `${direct} of them direct`;
  return `${isMore ? 'at least ' : ''}${plural(consumers, 'user')}${shards}, ${near}: ${listed(names, 3)}`;
}

export function testsOf(reach: Reach): string {
  const { tests, alike } = reach;
  if (tests.length === 0 && alike.tests.length > 0)
    return `none for sure; calls of a member of its name: ${sitesOf(alike.tests)}`;
  if (tests.length === 0) return 'no test found that calls it, directly or through others';
  return `tests: ${listed([...new Set(tests.map(({ file_path }) => file_path))], 3)}`;
}

function sitesOf(sites: Reach['alike']['users']): string {
  return listed(
    sites.map(({ file_path, line }) => `${file_path}:${line}`),
    3,
  );
}

/** Where the artifact speaks of it: its own line in source code, its first mention in a document. */
export function placeOf(
  component: Pick<Component, 'id' | 'line' | 'line_end' | 'path'>,
  artifact: Artifact,
  impact: Impact,
): { line_start: number; line_end: number } {
  if (impact.isCode && component.path === artifact.path)
    return { line_start: component.line, line_end: component.line_end };
  for (const [name, ids] of impact.named) {
    if (!ids.includes(component.id)) continue;
    const line = lineOf(artifact, name);
    if (line > 0) return { line_start: line, line_end: line };
  }
  return { line_start: 0, line_end: 0 };
}

/** Of a line within a component: that line in source code; in a document where the component is named, or else its file. */
export function placeWithin(
  component: Component,
  line: number,
  artifact: Artifact,
  impact: Impact,
): { line_start: number; line_end: number } {
  const named = impact.isCode ? undefined : placeOf(component, artifact, impact);
  return named !== undefined && named.line_start > 0
    ? named
    : placeIn(component.path, line, artifact, impact);
}

/** Of a place in a file that the artifact is or names. */
export function placeIn(
  path: string,
  line: number,
  artifact: Artifact,
  impact: Impact,
): { line_start: number; line_end: number } {
  if (impact.isCode && path === artifact.path) return { line_start: line, line_end: line };
  const ofFile = [...impact.named].find(([, ids]) =>
    ids.some((id) => id === path || id.startsWith(`${path}#`)),
  );
  const at = ofFile === undefined ? 0 : lineOf(artifact, ofFile[0]);
  return { line_start: at, line_end: at };
}

function lineOf({ text }: Artifact, name: string): number {
  // A name within a longer one is another one.
  const [at = text.indexOf(name)] = placesOf(text, name);
  return at < 0 ? 0 : text.slice(0, at).split('\n').length;
}

const severityOfRisk: Readonly<Record<Risk, Severity>> = {
  ...{ none: 'note', low: 'note', medium: 'minor', high: 'major', critical: 'critical' },
};

/** Rules of O2 that mark a border or a doubt: what is wrong there, if anything, has to be read. */
export const borders: ReadonlySet<string> = new Set([
  ...['user-memory-read', 'user-memory-write', 'raw-hardware', 'program-start', 'identity-change'],
  ...['pattern-from-data', 'unterminated-copy', 'unchecked-number'],
]);

/** How grave a weakness is where it stands: by the table of the security blast radius, for its exposure and its users. */
export function gravityOf(
  threat: Threat,
  file: Pick<FileKnowledge, 'isExposed' | 'isWide'>,
): Severity {
  if (borders.has(threat.type)) return 'note';
  const worst = (['low', 'medium', 'high', 'critical'] as const).find(
    (each) => each === threat.severity,
  );
  return severityOfRisk[riskOf(worst ?? 'none', file.isExposed, file.isWide)];
}

export const noCode = 'the artifact names no code that the index knows';

/** Said by every mode that asks what an artifact is about. */
export function withoutSubject(impact: Impact): string[] {
  if (impact.components.length > 0 || impact.files.length > 0) return [];
  return [`to look at any code: ${noCode}`];
}

/** Each code with its first line, as in `INBOX_FULL` (line 202). */
export function errorList(errors: readonly ErrorPlace[], most: number): string {
  const first = new Map<string, number>();
  for (const { code, line } of errors) if (!first.has(code)) first.set(code, line);
  return listed(
    [...first].map(([code, line]) => `\`${code}\` (line ${line})`),
    most,
  );
}

export function listed(all: readonly string[], most: number): string {
  const shown = all.slice(0, most).join(', ');
  return all.length > most ? `${shown} and ${all.length - most} more` : shown;
}
