import { zeromqHarness } from '../support/networks.js';
import { blobsContract } from './blobs.js';

blobsContract('zeromq', zeromqHarness);
