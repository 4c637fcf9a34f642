/**
 * Key layout. Segments are joined by `/`; names never contain one. Integers are 16 hex digits, so that
 * byte order is number order and a key stays readable in a dump.
 *
 *     meta/schema                        layout version, decimal text
 *     agent/<id>                         REGISTER frame: head, envelope, AgentRecord
 *     facts/<miner version>/<language>/<blob>   FileFacts
 */
export const schemaKey = 'meta/schema';
export const schemaVersion = '1';

export const agentPrefix = 'agent/';
export const agentKey = (id: string): string => `${agentPrefix}${id}`;

export const factsPrefix = 'facts/';
export const factsKey = (miner: number, language: string, blob: string): string =>
  `${factsPrefix}${hex64(miner)}/${language}/${blob}`;

export function hex64(value: number): string {
  return value.toString(16).padStart(16, '0');
}

/** The least key behind all keys with this prefix. */
export function prefixEnd(prefix: string): string {
  return `${prefix}\uffff`;
}
