import { statSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import { isName } from '../base/ids.js';
import { lazily } from '../base/lazy-schema.js';
import { asText, curveKey, hexSecret, parsed } from './keys.js';
import { invalid, readPrivate, writePrivate } from './private-file.js';

const identityShape = lazily((z) =>
  z.strictObject({
    agent: z.string().refine(isName, 'is no name'),
    role: z.string().refine(isName, 'is no name'),
    curve_public: curveKey(z),
    curve_secret: curveKey(z),
    server_public: curveKey(z),
    /** Hex; answers the challenge. */
    secret: hexSecret(z),
    /** Address of the broker; empty: configured elsewhere. */
    bus: z.string(),
  }),
);

/** All that one agent needs to come over tcp: a file of mode 0600 that `sigma keys add` writes. */
export type IdentityFile = Readonly<z.infer<ReturnType<typeof identityShape>>>;

/** `place` names the file, or a folder with one such file an agent. Throws KEY_FILE_INVALID. */
export function readIdentity(place: string, agent?: string): IdentityFile {
  const file = agent === undefined ? place : identityPath(place, agent);
  const text = readPrivate(file);
  if (text === undefined) throw invalid(file, 'there is none');
  return parsed(file, text, identityShape());
}

/** In a folder each agent's file has its name. */
export function identityPath(place: string, agent: string): string {
  return isFolder(place) && isName(agent) ? path.join(place, `${agent}.json`) : place;
}

export function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** False when the file is there and may not be replaced. Throws STORE_UNAVAILABLE. */
export function writeIdentity(
  file: string,
  identity: IdentityFile,
  options: { replace: boolean },
): boolean {
  return writePrivate(file, asText(identity), options);
}
