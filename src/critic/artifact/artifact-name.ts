import path from 'node:path';
import type { CritiqueRequest } from '../shapes.js';

/** An artifact as it is listed: its path, and the name that no other one has. */
export interface ArtifactName {
  artifact: string;
  whole: string;
}

/** By which it is known: each tree may have a README.md. Of no tree: its path alone. */
export function wholeNameOf({
  artifact,
  root,
}: {
  artifact: Pick<CritiqueRequest['artifact'], 'path' | 'tree'>;
  root: string;
}): string {
  const { path: its, tree = root } = artifact;
  return tree === '' || path.posix.isAbsolute(its) ? its : path.posix.join(tree, its);
}

/** What is shown of one of them: its path, where no other one has the same. */
export function shownAmong(all: Iterable<ArtifactName>): (one: ArtifactName) => string {
  const wholes = new Map<string, Set<string>>();
  for (const { artifact, whole } of all)
    wholes.set(artifact, (wholes.get(artifact) ?? new Set()).add(whole));
  return ({ artifact, whole }) => ((wholes.get(artifact)?.size ?? 0) > 1 ? whole : artifact);
}
