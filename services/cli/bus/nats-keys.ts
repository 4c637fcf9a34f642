import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { agentsWithKeys, readAgentKeys } from '../../../src/config/agent-keys.js';
import { writePublic } from '../../../src/config/private-file.js';
import { newNkey } from '../../../src/config/nkey.js';
import { usersText, type NatsUser } from '../../../src/nats/authorization.js';
import { usage } from '../output.js';

/** Some authorities; with all of a system an identity would be no small file any more. */
const authoritiesBytesMax = 32 * 1_024;
const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM file, and nothing else that stands in it, such as a key. Throws USAGE. */
export function readAuthorities(file: string): string {
  try {
    if (statSync(file).size > authoritiesBytesMax)
      throw new Error(`it has more than ${authoritiesBytesMax} bytes`);
    const found = readFileSync(file, 'utf8').match(certificatePattern) ?? [];
    if (found.length === 0) throw new Error('it has no certificate in PEM');
    for (const each of found) void new X509Certificate(each);
    return `${found.join('\n')}\n`;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw usage(`--ca ${file} cannot be used: ${detail}`);
  }
}

const firstLine = '# Written by `sigma keys nats`, which replaces it; it holds no secret.\n';

/** Writes what the servers let the agents of this home do. Throws USAGE, KEY_FILE_INVALID, STORE_UNAVAILABLE. */
export function writeNatsUsers(
  home: string,
  { file, hostsPull }: { file: string; hostsPull: boolean },
): NatsUser[] {
  if (!mayReplace(file)) throw usage(`${file} exists, and was not written by this command`);
  const users = agentsWithKeys(home).flatMap((each): NatsUser[] => {
    const keys = readAgentKeys(home, each);
    if (!('nats_public' in keys)) return [];
    const { agent, role, nats_bus: bus, nats_public: key } = keys;
    return [{ agent, role, bus, key }];
  });
  const text = usersText(users.length === 0 ? [noUser()] : users, { hostsPull });
  writePublic(file, firstLine + text);
  return users;
}

/** A server without any user lets all in. Of this key no seed is kept. */
function noUser(): NatsUser {
  return { agent: 'none', role: 'none', bus: 'none', key: newNkey().publicKey };
}

function mayReplace(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').startsWith(firstLine);
  } catch (error) {
    return (error as { code?: string }).code === 'ENOENT';
  }
}
