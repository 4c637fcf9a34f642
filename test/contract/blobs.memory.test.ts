import { memoryHarness } from '../support/networks.js';
import { blobsContract } from './blobs.js';

blobsContract('memory', memoryHarness);
