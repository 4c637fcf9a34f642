import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Places that are looked for on disk; those behind them stay plain text. */
const placesMax = 400;
const place = /(?<![\w/.+-])((?:[\w.+-]+\/)*[\w+-][\w.+-]*\.\w+):(\d+)/g;

/**
 * Whether a terminal is known to open hyperlinks (OSC 8). Those that are not known may print the codes.
 * https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
 */
export function opensHyperlinks(env: NodeJS.ProcessEnv): boolean {
  const { TERM = '', TERM_PROGRAM = '', VTE_VERSION = '' } = env;
  if (env.FORCE_HYPERLINK !== undefined) return env.FORCE_HYPERLINK !== '0';
  if (env.NO_COLOR !== undefined || env.CI !== undefined || TERM === 'dumb') return false;
  return (
    ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'Tabby'].includes(TERM_PROGRAM) ||
    ['xterm-kitty', 'xterm-ghostty', 'foot', 'alacritty'].includes(TERM) ||
    Number(VTE_VERSION) >= 5000 ||
    [env.WT_SESSION, env.KONSOLE_VERSION, env.DOMTERM].some((each) => each !== undefined)
  );
}

/** The text with each `path:line` that is a file below one of the roots as a hyperlink to it. */
export function hyperlinked(text: string, roots: readonly string[]): string {
  const known = new Map<string, string | undefined>();
  const urlOf = (file: string): string | undefined => {
    if (!known.has(file) && known.size < placesMax) {
      // The text may name a file that is not in the tree.
      const isBelow = !file.split('/').includes('..');
      const root = roots.find((each) => isBelow && existsSync(path.join(each, file)));
      const url = root === undefined ? undefined : pathToFileURL(path.join(root, file));
      if (url !== undefined) url.hostname = hostname();
      known.set(file, url?.href);
    }
    return known.get(file);
  };
  return text.replace(place, (all, file: string, line: string) => {
    const url = urlOf(file);
    return url === undefined ? all : `\u001b]8;;${url}#L${line}\u001b\\${all}\u001b]8;;\u001b\\`;
  });
}
