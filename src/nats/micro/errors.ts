import type { MsgHdrs } from '@nats-io/transport-node';
import { BusError } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { oneLine } from './words.js';
import { microLimits } from './limits.js';

export const errorHeader = 'Nats-Service-Error';
export const errorCodeHeader = 'Nats-Service-Error-Code';

const statuses: Partial<Record<ErrorCode, number>> = {
  ...{ MALFORMED_PAYLOAD: 400, TOO_LARGE: 400, UNAUTHORISED: 403, UNKNOWN_AGENT: 404 },
  ...{ AMBIGUOUS_ALIAS: 409, BROKER_BUSY: 429, RATE_LIMITED: 429, HOST_BUSY: 429 },
};

/** The number that stands for an error: what its asker can mend is 4xx. */
export function statusOf({ code, exit }: BusError): number {
  return statuses[code] ?? (exit === 2 ? 400 : 500);
}

export function errorHeaders(headers: MsgHdrs, error: BusError): MsgHdrs {
  const text = oneLine(`${error.code}: ${error.message}`, microLimits.errorCharsMax);
  headers.set(errorCodeHeader, String(statusOf(error)));
  headers.set(errorHeader, text);
  return headers;
}
