import type { Evidence, LeftOut } from '../shapes.js';

/** `path:line` or `path:line-line`. */
export function placeOf(at: { file_path: string; line_start: number; line_end: number }): string {
  const end = at.line_end > at.line_start ? `-${at.line_end}` : '';
  return `${at.file_path}:${at.line_start}${end}`;
}

/** `cma_alloc (function)`, `cma_alloc calls find_next_bit`, `Usage (section)`. */
export function subjectOf({
  kind,
  name,
  container,
}: Pick<Evidence, 'kind' | 'name' | 'container'>): string {
  if (kind === 'call') return `${container} calls ${name}`;
  if (kind === 'slot') return `${container} holds or passes on ${name}`;
  if (kind === 'message') return `${container === '' ? 'the file' : container} prints this message`;
  if (name === '') return kind;
  return `${name} (${kind}${container === '' ? '' : ` of ${container}`})`;
}

/** One line of text: the place, what stands there, and what is said of it. */
export function evidenceLine(evidence: Evidence): string {
  const said = evidence.said === '' ? '' : `: ${evidence.said}`;
  return `${placeOf(evidence)} ${subjectOf(evidence)}${roleNote(evidence)}${said}`;
}

/** Of what is not source. */
export function roleNote({ role = '' }: { role?: string | undefined }): string {
  return role === '' ? '' : ` (${role})`;
}

export function leftOutLine({ overlay, why }: LeftOut): string {
  return `${overlay} was not consulted: ${why}.`;
}
