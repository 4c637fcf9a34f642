import { memoryHarness } from '../support/networks.js';
import { mailContract } from './mail.js';

mailContract('memory', memoryHarness);
