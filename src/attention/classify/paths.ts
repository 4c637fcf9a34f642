import path from 'node:path/posix';
import { globSource } from '../policy/command-pattern.js';
import type { Policy } from '../policy/policy.js';

/** Where a path leads, by its text alone: links are followed only when it runs. */

export type Place =
  | { kind: 'inside'; path: string }
  /** Absolute, from `~`, or above the root. */
  | { kind: 'outside'; path: string }
  | { kind: 'unknown' };

/** `cwd`: as of a scope, undefined is not known. `root`: absolute, or not known: then all that is absolute is outside. */
export function placeOf(text: string, cwd: string | undefined, root: string | undefined): Place {
  const given = text.replace(/^file:\/\//, '');
  if (given.startsWith('~')) return { kind: 'outside', path: path.normalize(given) };
  if (given.startsWith('/')) return absolute(path.normalize(given), root);
  if (cwd === undefined) return { kind: 'unknown' };
  const joined = path.normalize(path.join(cwd, given));
  if (joined.startsWith('/')) return absolute(joined, root);
  if (joined.startsWith('~') || joined === '..' || joined.startsWith('../'))
    return { kind: 'outside', path: joined };
  return { kind: 'inside', path: joined === '.' ? '' : joined.replace(/\/$/, '') };
}

function absolute(normal: string, root: string | undefined): Place {
  if (root !== undefined && root !== '') {
    if (normal === root) return { kind: 'inside', path: '' };
    if (normal.startsWith(`${root}/`))
      return { kind: 'inside', path: normal.slice(root.length + 1).replace(/\/$/, '') };
  }
  return { kind: 'outside', path: normal };
}

export class PathRules {
  readonly #secret: RegExp;
  readonly #public: RegExp;
  /** One for each pattern of a secret. */
  readonly #names: readonly string[];
  readonly #configs: RegExp;
  readonly #startup: RegExp;
  readonly #rebuildable: RegExp;
  readonly #data: RegExp;
  readonly #scratch: readonly string[];

  constructor(paths: Policy['paths']) {
    this.#secret = endings(paths.secret);
    this.#names = [
      ...commonSecrets,
      ...paths.secret.map((each) => each.slice(each.lastIndexOf('/') + 1).replaceAll('*', 'x')),
    ];
    this.#public = endings(paths.public);
    this.#configs = endings(paths.configs);
    this.#startup = endings(paths.startup);
    this.#data = endings(paths.data);
    this.#rebuildable = endings(paths.rebuildable, true);
    this.#scratch = paths.scratch;
  }

  /** The file, or the folder of such files. */
  isSecret(text: string): boolean {
    const plain = text.replace(/(?<=.)\/+$/, '');
    const isNamed = this.#secret.test(plain) || this.#secret.test(`${plain}/x`);
    return isNamed && !this.#public.test(plain);
  }

  isConfig(text: string): boolean {
    return this.#configs.test(text);
  }

  isStartup(text: string): boolean {
    return this.#startup.test(text);
  }

  isData(text: string): boolean {
    return this.#data.test(text);
  }

  isScratch(text: string): boolean {
    return this.#scratch.some((each) => text === each || text.startsWith(`${each}/`));
  }

  isRebuildable(text: string): boolean {
    return this.#rebuildable.test(text);
  }

  /** Every glob that could name it: `.en?` is not `.env`, but may be. */
  mayBeSecret(glob: string): boolean {
    if (!/[*?[]/.test(glob) || this.isSecret(glob)) return this.isSecret(glob);
    const folder = glob.slice(0, glob.lastIndexOf('/') + 1);
    const last = glob.slice(folder.length);
    // Of other users or of the machine, anywhere.
    if (/[*?[]/.test(folder) && /^[~/]/.test(folder)) return true;
    if (/^[*?]+$/.test(last)) return this.isSecret(`${folder}x`);
    if (last.startsWith('*.')) return false;
    const source = last
      .replace(/[.+^${}()|\\]/g, '\\$&')
      .replace(/\*/g, '.*')
      .replace(/\?/g, '.');
    try {
      const expression = new RegExp(`^${source}$`);
      return this.#names.some(
        (name) =>
          expression.test(name) && (commonSecrets.has(name) || this.isSecret(`${folder}${name}`)),
      );
    } catch {
      return true;
    }
  }
}

const commonSecrets = new Set([
  ...['.env', 'id_rsa', 'id_ed25519', '.netrc', 'credentials', '.git-credentials'],
]);

/** Absolute ones from the beginning, others at the end of a path; `within`: any part of it. */
function endings(globs: readonly string[], within = false): RegExp {
  const alternatives = globs.map((glob) => {
    const source = globSource(glob).replaceAll('.*', '[^/]*');
    return glob.startsWith('/') ? `^${source}` : `(?:^|/)${source}`;
  });
  return new RegExp(`(?:${alternatives.join('|') || '(?!)'})(?:${within ? '$|/' : '$'})`);
}
