import { statSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import { isName } from '../base/ids.js';
import { lazily, type Zod } from '../base/lazy-schema.js';
import { asText, curveKey, hasField, hexSecret, parsed } from './keys.js';
import { nkeySeed } from './nkey.js';
import { invalid, readPrivate, writePrivate } from './private-file.js';

const common = (z: Zod) => ({
  agent: z.string().refine(isName, 'is no name'),
  role: z.string().refine(isName, 'is no name'),
  /** Hex; answers the challenge. */
  secret: hexSecret(z),
});

const curveShape = lazily((z) =>
  z.strictObject({
    ...common(z),
    curve_public: curveKey(z),
    curve_secret: curveKey(z),
    server_public: curveKey(z),
    /** Address of the broker; empty: configured elsewhere. */
    bus: z.string(),
  }),
);

const natsShape = lazily((z) =>
  z.strictObject({
    ...common(z),
    nats_seed: nkeySeed(z),
    /** PEM of the authorities that sign the certificates of the servers; absent: those of the system. */
    ca: z.string().includes('-----BEGIN CERTIFICATE-----', 'is no certificate in PEM').optional(),
    /** Address of the servers. */
    bus: z.string().regex(/^(?:nats|tls):\/\/./, 'is no nats:// or tls:// address'),
  }),
);

const identityShape = (value: unknown): z.ZodType<IdentityFile> =>
  hasField(value, 'nats_seed') ? natsShape() : curveShape();

export type CurveIdentity = Readonly<z.infer<ReturnType<typeof curveShape>>>;
export type NatsIdentity = Readonly<z.infer<ReturnType<typeof natsShape>>>;

/** All that one agent needs to come over tcp, or over NATS: a file of mode 0600 that `sigma keys add` writes. */
export type IdentityFile = CurveIdentity | NatsIdentity;

export function isNatsIdentity(identity: IdentityFile): identity is NatsIdentity {
  return 'nats_seed' in identity;
}

/** `place` names the file, or a folder with one such file an agent. Throws KEY_FILE_INVALID. */
export function readIdentity(place: string, agent?: string): IdentityFile {
  const file = agent === undefined ? place : identityPath(place, agent);
  const text = readPrivate(file);
  if (text === undefined) throw invalid(file, 'there is none');
  return parsed(file, text, identityShape);
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
