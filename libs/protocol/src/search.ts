import { z } from 'zod';
import { AddressText } from './address.js';
import { Uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { getMessage, Message } from './messages.js';
import { operation } from './operation.js';
import { queryInstant, queryInt } from './query.js';
import { text } from './text.js';

/** Types that search looks into. */
export const SEARCHED_TYPES = ['text', 'data'] as const;

export const searchMessages = operation({
  id: 'searchMessages',
  method: 'GET',
  path: '/v1/search',
  tag: 'messages',
  summary: 'Find messages by their words, newest first',
  description:
    'Looks into texts and into the summaries of data messages, in the rooms that the caller can read now. Every word of q must be there as a whole word; capitals make no difference, and everything but letters and digits separates words. There are no operators, parts of words or similar words.',
  access: { scopes: ['read'] },
  query: z.strictObject({
    q: text({ min: 1, max: LIMITS.searchBytes }).describe('One word or more, in any order.'),
    room: Uuid.optional().describe('Only this room.'),
    sender: AddressText.optional().describe(
      'Only from this identity; an unknown one has sent nothing.',
    ),
    type: z.enum(SEARCHED_TYPES).optional(),
    since: queryInstant.optional().describe('Only from this instant on.'),
    until: queryInstant.optional().describe('Only from before this instant.'),
    limit: queryInt(1, LIMITS.searchMax, LIMITS.searchMax).optional(),
  }),
  responses: {
    200: {
      description: 'What was found, the newest first.',
      schema: z.array(Message).max(LIMITS.searchMax),
      example: [getMessage.responses[200].example],
    },
  },
  errors: ['not_found', 'invalid_number', 'invalid_number_check_digit'],
});
