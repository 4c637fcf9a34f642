import { expect, test } from 'vitest';
import { parseNatsAddress } from '../../../src/nats/address.js';

test.each([
  ['nats://127.0.0.1:4222', ['127.0.0.1:4222'], false, 'main'],
  ['nats://localhost:4222/test-1', ['localhost:4222'], false, 'test-1'],
  ['nats://[::1]:4222', ['[::1]:4222'], false, 'main'],
  ['tls://nats.example:4222', ['nats.example:4222'], true, 'main'],
  ['tls://a:4222,b.example:4223/other', ['a:4222', 'b.example:4223'], true, 'other'],
])('%s names servers and a bus', (address, servers, isTls, bus) => {
  expect(parseNatsAddress(address)).toEqual({ servers, isTls, bus });
});

test.each([
  ['tcp://127.0.0.1:4222', 'neither'],
  ['tls://', 'neither'],
  ['tls:///main', 'neither'],
  ['tls://host', 'PORT'],
  ['tls://host:0', 'PORT'],
  ['tls://host:65536', 'PORT'],
  ['tls://host:4222,', 'PORT'],
  ['tls://host:4222,,b:4222', 'PORT'],
  ['tls://me@host:4222', 'PORT'],
  ['tls://ho st:4222', 'PORT'],
  ['tls://host:4222/', 'no name'],
  ['tls://host:4222/Main', 'no name'],
  ['tls://host:4222/a.b', 'no name'],
  ['tls://host:4222/>', 'no name'],
  ['tls://host:4222/main/x', 'no name'],
  ['tls://10.0.0.1:4222', 'certificate'],
  ['tls://[::1]:4222', 'certificate'],
  ['nats://nats.example:4222', 'not encrypted'],
  ['nats://127.0.0.1:4222,10.0.0.1:4222', 'not encrypted'],
  ['nats://127.0.0.1.example:4222', 'not encrypted'],
  ['nats://0.0.0.0:4222', 'not encrypted'],
  [`tls://${Array.from({ length: 17 }, () => 'h:4222').join()}`, 'more than 16'],
])('%s is refused: %s', (address, detail) => {
  expect(() => parseNatsAddress(address)).toThrow(
    expect.objectContaining({
      code: 'SOCKET_PATH',
      message: expect.stringContaining(detail) as string,
    }) as Error,
  );
});
