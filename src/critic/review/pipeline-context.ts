import type { Critique, Finding, ModeReport } from '../shapes.js';

export const contextLimits = {
  /** Of the whole document. */
  chars: 256 * 1024,
  /** Of one section of one mode. */
  sectionChars: 8_000,
  findings: 50,
} as const;

/**
 * What the modes said so far, in their order, as one Markdown document: it grows with every mode. For persons, and for another
 * pipeline after a barrier; the modes themselves get the reports. Cut at its limit, which is said in it.
 */
export function pipelineContext({ reports }: Pick<Critique, 'reports'>): string {
  const parts = ['# Pipeline Context (accumulated)', ...reports.map(partOf)];
  const kept: string[] = [];
  let chars = 0;
  for (const part of parts) {
    chars += part.length + 2;
    if (chars > contextLimits.chars) {
      kept.push(`_${parts.length - kept.length} modes are left out: the document is too long._`);
      break;
    }
    kept.push(part);
  }
  return `${kept.join('\n\n')}\n`;
}

function partOf(report: ModeReport): string {
  const { mode, strategy, status, reason, sections, findings } = report;
  const title = strategy === '' ? mode : `${mode} (${strategy})`;
  const told = status === 'complete' ? [] : [`_${[status, reason].filter(Boolean).join(': ')}_`];
  return [
    `## Mode: ${title}`,
    ...told,
    ...sections.map(({ title: name, text }) => `### ${name}\n\n${inner(text)}`),
    ...(findings.length === 0 ? [] : [findingsOf(findings)]),
    ...scoreOf(report),
  ].join('\n\n');
}

function findingsOf(findings: readonly Finding[]): string {
  const lines = findings.slice(0, contextLimits.findings).map(({ severity, rule, ...its }) => {
    const where = its.line_start > 0 ? ` (line ${its.line_start})` : '';
    return `- **${severity}** ${rule}${where}: ${oneLine(its.text)}`;
  });
  const more = findings.length - lines.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return `### Findings\n\n${lines.join('\n')}`;
}

function scoreOf({ score }: ModeReport): string[] {
  if (score === null) return [];
  return [`Score: ${score.score === null ? 'none' : score.score.toFixed(3)}`];
}

/** Its headings become deeper than ours. */
function inner(text: string): string {
  const cut =
    text.length <= contextLimits.sectionChars
      ? text
      : `${text.slice(0, contextLimits.sectionChars - 1)}…`;
  return cut.replace(/^#{1,3}(?=\s)/gm, '####');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
