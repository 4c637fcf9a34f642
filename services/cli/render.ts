import type { AskAnswer, Citation, LatticeAnswer, TraceAnswer } from '../../src/pgc/shapes.js';
import { printable, wrap } from './output.js';

/** Text for people. Places are `path:line`, which terminals and editors make clickable. */

export function renderAnswer(answer: AskAnswer): string {
  return [
    wrap(answer.answer),
    ...(answer.sources.length > 0 ? ['', 'Sources'] : []),
    ...answer.sources.map((source, at) => renderSource(source, at + 1)),
    ...answer.overlay_warnings.map((warning) => `note: ${warning}`),
    ...renderErrors(answer.errors),
    '',
    askedLine(answer.metadata.agents_asked),
  ].join('\n');
}

function askedLine(agents: number): string {
  return agents === 1 ? '1 agent asked' : `${agents} agents asked`;
}

export function renderSource(source: Citation, number: number): string {
  const lines = source.line_end > source.line_start ? `-${source.line_end}` : '';
  const place = `${printable(source.file_path)}:${source.line_start}${lines}`;
  return `  [${number}] ${place}  ${source.text}  (${source.overlay}, ${source.agent}, similarity ${source.similarity.toFixed(2)})`;
}

export function renderErrors(errors: { code: string; text: string }[]): string[] {
  return errors.map((error) => `${error.code}: ${error.text}`);
}

/** The path as a chain, then each hop in its own words. */
export function renderQuery(answer: LatticeAnswer): string {
  const lines = [wrap(answer.answer), ''];
  if (answer.query_path.length > 0) lines.push(answer.query_path.join(' → '), '');
  // Numbered through, as the text above cites them.
  let number = 0;
  for (const [at, hop] of answer.hops.entries()) {
    const via = hop.via === null ? '' : `  via ${hop.via.symbol}: ${hop.via.from} → ${hop.via.to}`;
    lines.push(`${at + 1}. ${hop.agent}${via}`);
    for (const citation of hop.citations) {
      number += 1;
      lines.push(`  ${renderSource(citation, number)}`);
    }
  }
  const { actual_hops, max_hops } = answer.safety;
  const partial = answer.partial ? ' · partial' : '';
  lines.push(
    '',
    `confidence ${answer.confidence} · ${actual_hops} of ${max_hops} hops · ${answer.agents_asked} agents asked · ${Math.round(answer.elapsed_ms)} ms${partial}`,
  );
  lines.push(...renderErrors(answer.errors));
  return lines.join('\n');
}

export function renderTrace(answer: TraceAnswer): string {
  if (!answer.found) return renderErrors(answer.errors).join('\n');
  return answer.path
    .map((step, at) => {
      const call = step.call_site === '' ? '' : `  called at ${printable(step.call_site)}`;
      return `${'  '.repeat(at)}${step.symbol}  ${printable(step.file_path)}:${step.line}  [${step.agent}]${call}`;
    })
    .join('\n');
}
