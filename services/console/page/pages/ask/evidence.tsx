import type { JSX } from 'preact';
import type { Evidence } from '../../../../../src/pgc/shapes.js';
import { Badge } from '../../parts/badge.js';
import { Code } from '../../parts/code.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Place } from '../../parts/editor.js';
import { citationText, placeText, symbolLink, symbolName } from '../../parts/place.js';

/** One place that proves something, with the lines that decide. */
export function EvidenceCard({
  evidence,
  root,
  isCurrent,
  onFocus,
}: {
  evidence: Evidence;
  root: string;
  isCurrent: boolean;
  onFocus: () => void;
}): JSX.Element {
  const { id, said, why, excerpt, kind, file_path: path, line_start: line, role = '' } = evidence;
  const lineEnd = Math.max(evidence.line_end, excerpt.at(-1)?.line ?? 0);
  const isRepeated = said !== '' && excerpt.some(({ text }) => text.includes(said));
  const place = placeText(path, line, lineEnd);
  return (
    <article
      id={`evidence-${id}`}
      class={`panel evidence ${isCurrent ? 'current' : ''}`}
      tabIndex={-1}
      aria-label={`Evidence ${id}`}
      onFocusCapture={onFocus}
    >
      <header>
        <span class="evidence-id">[{id}]</span>
        <h3>
          <Subject evidence={evidence} />
        </h3>
        {role !== '' && <Badge>{role}</Badge>}
      </header>
      <div class="evidence-place">
        <Place root={root} path={path} line={line} lineEnd={lineEnd} />
        <CopyButton
          label="Copy as citation"
          text={citationText({
            place,
            subject: subjectText(evidence),
            lines: excerpt,
            blob: evidence.blob,
          })}
        />
      </div>
      {said !== '' && !isRepeated && <p>{said}</p>}
      {excerpt.length > 0 && <Code path={path} lines={excerpt} />}
      {kind !== 'call' && why.length > 0 && <p class="dim why">Why: {why.join('; ')}</p>}
    </article>
  );
}

function Subject({ evidence }: { evidence: Evidence }): JSX.Element {
  const { kind, name, container, file_path: file, symbol } = evidence;
  const holder =
    container === '' ? 'The file' : <SymbolLink id={`${file}#${container}`} name={container} />;
  if (kind === 'call')
    return (
      <>
        {holder} calls <SymbolLink id={name} name={name} />
      </>
    );
  if (kind === 'slot')
    return (
      <>
        {holder} holds or passes on <SymbolLink id={name} name={name} />
      </>
    );
  if (kind === 'message') return <>{holder} prints this message</>;
  if (name === '') return <>{kind}</>;
  if (symbol === '') return <>{`${name} (${kind})`}</>;
  return (
    <>
      <SymbolLink id={symbolName({ file_path: file, container, symbol: name })} name={name} />{' '}
      <span class="dim">
        {kind}
        {container === '' ? '' : ` of ${container}`}
      </span>
    </>
  );
}

function SymbolLink({ id, name }: { id: string; name: string }): JSX.Element {
  return (
    <a href={symbolLink(id)}>
      <code>{name}</code>
    </a>
  );
}

function subjectText({ kind, name, container }: Evidence): string {
  const holder = container === '' ? 'the file' : container;
  if (kind === 'call') return `${holder} calls ${name}`;
  if (kind === 'slot') return `${holder} holds or passes on ${name}`;
  return name === '' ? kind : `${name} (${kind}${container === '' ? '' : ` of ${container}`})`;
}
