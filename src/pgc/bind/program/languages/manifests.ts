import { posix } from 'node:path';
import type { Manifest } from '../rules.js';

/** Path or name of a package of the tree, and its folder. */
export type PackagePlace = readonly [name: string, folder: string];

/** The packages that files of this name describe; fixtures of tests may call theirs like the real one. */
export function packagesIn(manifests: readonly Manifest[], file: string): PackagePlace[] {
  return manifests
    .filter(({ path }) => posix.basename(path) === file)
    .flatMap(({ path, types }): PackagePlace[] => {
      const name = types.find(({ role }) => role === 'package')?.name;
      const folder = posix.dirname(path);
      return name === undefined ? [] : [[name, folder === '.' ? '' : folder]];
    });
}
