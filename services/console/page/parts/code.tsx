import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ExcerptLine } from '../../../../src/pgc/shapes.js';
import { dedented } from './dedent.js';
import type { Token } from './highlight.js';

/** Lines of one file with their numbers; those that decide are marked, a gap is three dots. */
export function Code({
  path,
  lines,
  isCut = false,
}: {
  path: string;
  lines: readonly ExcerptLine[];
  /** It goes on behind the last line. */
  isCut?: boolean;
}): JSX.Element {
  const shown = useMemo(() => dedented(lines), [lines]);
  const tokens = useTokens(path, shown);
  const width = String(lines.at(-1)?.line ?? 0).length;
  return (
    <div class="code" tabIndex={0} role="group" aria-label={`Lines of ${path}`}>
      <pre>
        {shown.map(({ line, text, decides }, at) => (
          <div key={line}>
            {at > 0 && line > (shown[at - 1]?.line ?? 0) + 1 && <div class="code-gap">⋯</div>}
            <div class={decides ? 'code-line decides' : 'code-line'}>
              <span class="code-number">{String(line).padStart(width)}</span>
              {decides && <span class="unseen">decides: </span>}
              <code>{spansOf(tokens?.[at], text)}</code>
            </div>
          </div>
        ))}
        {isCut && <div class="code-gap">⋯</div>}
      </pre>
    </div>
  );
}

function spansOf(tokens: readonly Token[] | undefined, text: string): JSX.Element[] | string {
  if (tokens === undefined) return `${text}\n`;
  return tokens.map(({ content, color }, at) => (
    <span key={at} style={color === undefined ? {} : { color }}>
      {content}
      {at === tokens.length - 1 && '\n'}
    </span>
  ));
}

/** Undefined until they are there: the plain text stands meanwhile, in the same place. */
function useTokens(path: string, lines: readonly ExcerptLine[]): Token[][] | undefined {
  const [tokens, setTokens] = useState<{ code: string; its: Token[][] } | undefined>();
  const code = lines.map(({ text }) => text).join('\n');
  useEffect(() => {
    let isWanted = true;
    if (code !== '')
      import('./highlight.js')
        .then(({ tokensOf }) => tokensOf(code, path))
        .then((its) => isWanted && its !== undefined && setTokens({ code, its }))
        // Without colours it can be read, too.
        .catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [code, path]);
  return tokens?.code === code ? tokens.its : undefined;
}
