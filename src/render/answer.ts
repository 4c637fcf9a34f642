import { renumbered, sentenceEnd, synthesise } from '../lattice/synthesis.js';
import type {
  AskAnswer,
  Citation,
  Hop,
  LatticeAnswer,
  ModelMetadata,
  TraceAnswer,
  Via,
} from '../pgc/shapes.js';
import { printable, wrap } from './terminal.js';

/** Folders of a shard that are named. */
const scopeShown = 3;

/** Text for people. Places are `path:line`, which terminals and editors make clickable. */

export function renderAnswer(answer: AskAnswer): string {
  return [
    wrap(answer.answer),
    ...(answer.sources.length > 0 ? ['', 'Sources'] : []),
    ...answer.sources.map((source, at) => renderSource(source, at + 1)),
    ...answer.overlay_warnings.map((warning) => `note: ${warning}`),
    ...renderErrors(answer.errors),
    '',
    [askedLine(answer.metadata.agents_asked), ...modelWords(answer.metadata)].join(' · '),
  ].join('\n');
}

/** What a language model had to do with it. */
function modelWords({ engine, dropped, tokens = 0 }: Partial<ModelMetadata>): string[] {
  if (dropped === undefined) return [];
  const lost = `${dropped} sentence${dropped === 1 ? '' : 's'} without a valid source dropped`;
  return [engine ?? '', `${tokens} tokens`, ...(dropped === 0 ? [] : [lost])];
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

/** The path drawn as a chain, each hop in its own words at its place, and the sources numbered through. */
export function renderQuery(answer: LatticeAnswer): string {
  const { hops } = answer;
  const lines = hops.length === 0 ? [wrap(answer.answer)] : toldBefore(answer);
  let numbered = 0;
  for (const [at, hop] of hops.entries()) {
    // A chain ends at the last hop, and where a further one begins that no call leads to.
    const isLast = (hops[at + 1]?.via ?? null) === null;
    if (hop.via !== null) lines.push(...renderVia(hop.via, hops[at - 1]));
    else if (at > 0) lines.push('', 'Found by search as well:');
    const scope = hop.scope.slice(0, scopeShown).join(', ');
    lines.push(`● ${hop.agent}  ${printable(scope)}${hop.scope.length > scopeShown ? ', …' : ''}`);
    const bar = isLast ? '  ' : '│ ';
    for (const sentence of renumbered(hop.answer, numbered).split(sentenceEnd))
      lines.push(...wrap(sentence, `${bar}  `).split('\n'));
    numbered += hop.citations.length;
  }
  const sources = hops.flatMap((hop) => hop.citations);
  if (sources.length > 0) lines.push('', 'Sources');
  lines.push(...sources.map((source, at) => renderPlace(source, at + 1)));
  const { actual_hops, max_hops } = answer.safety;
  const told = answer.metadata === undefined ? [] : modelWords(answer.metadata);
  const partial = answer.partial ? ' · partial: not everybody answered' : '';
  lines.push(
    '',
    `confidence ${answer.confidence} · ${actual_hops} of at most ${max_hops} agents visited, ${answer.agents_asked} asked in all · ${[`${Math.round(answer.elapsed_ms)} ms${partial}`, ...told].join(' · ')}`,
  );
  lines.push(...renderErrors(answer.errors));
  return lines.join('\n');
}

/** The hops are drawn in their own words; what a model made of all of them stands before them. */
function toldBefore({ answer, hops }: LatticeAnswer): string[] {
  return answer === synthesise(hops).answer ? [] : [wrap(answer), ''];
}

/** The calls that lead from one hop to the next; a line each, with both ends of the last. */
function renderVia(via: Via, before: Hop | undefined): string[] {
  const calls = [...via.chain.slice(1), undefined].map((step, at) => {
    const caller = via.chain[at]?.symbol ?? via.from_agent;
    const called = step?.symbol ?? via.symbol;
    return `│   ${caller} calls ${called} at ${printable(step?.call_site ?? via.from)}`;
  });
  // A link that began elsewhere than in the hop above it says where.
  const [first] = via.chain;
  const isSide = before !== undefined && first !== undefined && first.agent !== before.agent;
  const side = isSide ? [`├─ from ${first.agent}`] : ['│'];
  return [...side, ...calls, `▼   ${via.symbol} is defined at ${printable(via.to)}`];
}

/** A number, a place, what stands there: the rest is in the text above, or in --json. */
function renderPlace(source: Citation, number: number): string {
  const lines = source.line_end > source.line_start ? `-${source.line_end}` : '';
  const place = `${printable(source.file_path)}:${source.line_start}${lines}`;
  const what = source.overlay === 'O3' ? source.text : source.symbol || source.section;
  return `  ${`[${number}]`.padStart(4)} ${place}  ${printable(what)}  ${source.similarity.toFixed(2)}`;
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
