import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Piece } from '../../../../../src/render/explored.js';
import { linkTo, type PageProps } from '../../address.js';
import { Badge } from '../../parts/badge.js';
import { Code } from '../../parts/code.js';
import { CopyButton } from '../../parts/copy-button.js';
import { EditorChoice, Place } from '../../parts/editor.js';
import { citationText, placeText, symbolLink, symbolName } from '../../parts/place.js';
import { Empty, Loadable } from '../../parts/states.js';
import { go } from '../../route.js';
import { useCall } from '../../use-call.js';
import { History } from './history.js';
import { Definitions, Sites } from './sites.js';
import './symbol.css';

/** All that is known of one name: what it is, who uses it, what it uses, what stands in its place, and how its file came to be. */
export function SymbolPage({ route: { query } }: PageProps): JSX.Element {
  const name = query.get('id')?.trim() ?? '';
  const loaded = useCall('symbol', name === '' ? undefined : { symbol: name });
  return (
    <section class="page">
      <div class="page-head">
        <h1>{name === '' ? 'Symbol' : <code>{titleOf(name, loaded.value?.pieces)}</code>}</h1>
        <Lookup name={name} />
        <EditorChoice />
      </div>
      {name === '' && (
        <Empty title="Name a function, method, type or constant">
          <p>
            A name, or <code>path#name</code> where a name has several definitions, or{' '}
            <code>path:line</code>.
          </p>
        </Empty>
      )}
      <Loadable loaded={loaded} what="Looking the symbol up">
        {({ pieces, unsure, errors, more_total: more, trees: [{ root } = { root: '' }] = [] }) => (
          <>
            {pieces.length > 1 && <Meanings pieces={pieces} more={more} />}
            {pieces.map((piece) => (
              <Definition
                key={`${piece.file_path}:${piece.line_start}`}
                piece={piece}
                root={root}
                isOnly={pieces.length === 1}
              />
            ))}
            {[...unsure, ...errors.map(({ code, text }) => `${code}: ${text}`)].map((note) => (
              <p key={note} class="note">
                {note}
              </p>
            ))}
          </>
        )}
      </Loadable>
    </section>
  );
}

/** A place says nothing to a reader once its name is known. */
function titleOf(asked: string, pieces: readonly Piece[] = []): string {
  const [first] = pieces;
  if (first === undefined || pieces.length > 1) return asked;
  return first.container === '' ? first.symbol : `${first.container}.${first.symbol}`;
}

function Lookup({ name }: { name: string }): JSX.Element {
  const [text, setText] = useState('');
  return (
    <form
      role="search"
      aria-label="Symbols"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') go(symbolLink(text.trim()));
      }}
    >
      <input
        type="search"
        data-search
        aria-label="Look up another symbol"
        placeholder={name === '' ? 'Name of a symbol' : 'Another symbol'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}

/** Where a name has several definitions, which one is meant. */
function Meanings({ pieces, more }: { pieces: readonly Piece[]; more: number }): JSX.Element {
  return (
    <nav class="panel" aria-label="Definitions of this name">
      <p>
        {pieces.length + more} definitions have this name
        {more > 0 && `, of which ${pieces.length} follow`}:
      </p>
      <ul class="meanings">
        {pieces.map((piece) => (
          <li key={piece.id}>
            <a href={symbolLink(`${piece.file_path}:${piece.line_start}`)}>
              <code>{symbolName(piece)}</code>
            </a>{' '}
            <span class="dim">
              {piece.kind}, line {piece.line_start}
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Definition({
  piece,
  root,
  isOnly,
}: {
  piece: Piece;
  root: string;
  isOnly: boolean;
}): JSX.Element {
  const {
    kind,
    container,
    file_path: path,
    line_start: line,
    line_end: lineEnd,
    lines,
    said,
  } = piece;
  const name = symbolName(piece);
  const isCut = lines.length > 0 && (lines.at(-1)?.line ?? 0) < lineEnd;
  return (
    <article class="definition" aria-label={name}>
      <header class="row">
        <h2 class={isOnly ? 'unseen' : ''}>
          <code>{name}</code>
        </h2>
        <Badge>
          {kind}
          {container === '' ? '' : ` of ${container}`}
        </Badge>
        {piece.role !== '' && piece.role !== 'source' && <Badge>{piece.role}</Badge>}
        <Place root={root} path={path} line={line} lineEnd={lineEnd} />
        <a href={linkTo('map', [], { shard: piece.agent })}>{piece.agent}</a>
        <CopyButton
          label="Copy as citation"
          text={citationText({
            place: placeText(path, line, lineEnd),
            subject: `${piece.symbol} (${kind})`,
            lines,
          })}
        />
      </header>
      {said !== '' && !isShown(said, lines) && <p class="said">{said}</p>}
      {lines.length > 0 ? (
        <Code path={path} lines={lines} isCut={isCut} />
      ) : (
        <p class="dim">Its lines are not shown here: open this definition alone.</p>
      )}
      <div class="relations">
        <Sites
          title="Callers"
          what="callers"
          related={piece.callers}
          name={name}
          root={root}
          none="Nothing is known to call it."
        />
        <Sites
          title="Callees"
          what="callees"
          related={piece.callees}
          name={name}
          root={root}
          none="It is not known to call anything that the code base defines."
        />
        <Definitions related={piece.implementations} name={name} root={root} />
        <Sites
          title="Other uses"
          what="references"
          related={piece.uses}
          name={name}
          root={root}
          none="Nothing is known to use it without calling it."
        />
      </div>
      {piece.possible !== null && piece.possible.total > 0 && (
        <details class="panel">
          <summary>
            {piece.possible.total === 1
              ? 'Possible: 1 other site of this name; nothing proves what it means'
              : `Possible: ${piece.possible.total} other sites of this name; nothing proves what they mean`}
          </summary>
          <Sites
            title=""
            what="possible"
            related={piece.possible}
            name={name}
            root={root}
            none=""
          />
        </details>
      )}
      <History path={path} />
    </article>
  );
}

/** What is said of it stands in its own lines, as in Python. */
function isShown(said: string, lines: Piece['lines']): boolean {
  const words = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const beginning = words(said.slice(0, saidCharsCompared));
  return words(lines.map(({ text }) => text).join(' ')).includes(beginning);
}

const saidCharsCompared = 60;
