import type { ActivityItem } from '@relayger/protocol';
import type { ActivityRow } from './sql/page-activity.js';

/** A record as the contract has it: only what is named here goes out. */
export function toItem(row: ActivityRow): ActivityItem {
  const fields = { at: row.at.toISOString(), agentId: row.agentId, roomId: row.roomId };
  switch (row.kind) {
    case 'task':
      return {
        ...fields,
        id: `${row.id}:${row.event}`,
        kind: 'task',
        event: row.event,
        taskId: row.id,
        creatorId: row.creatorId,
        parentTaskId: row.parentTaskId,
        rootTaskId: row.rootTaskId,
        operation: row.operation,
        state: row.taskState,
      };
    case 'message':
      return {
        ...fields,
        id: `${row.id}:${row.event}`,
        kind: 'message',
        event: row.event,
        messageId: row.id,
        sequence: row.seq,
        type: row.type,
      };
    case 'runtime':
      return {
        ...fields,
        id: `${row.id}:${row.event}:${row.nth}`,
        kind: 'runtime',
        event: row.event,
        runtimeId: row.runtimeId,
        deliveryId: row.id,
        version: row.nth,
        messageId: row.messageId,
        outcome: row.outcome,
        finishedAt: row.finishedAt?.toISOString() ?? null,
        usage:
          row.modelCalls === null
            ? null
            : {
                modelCalls: Number(row.modelCalls),
                inputTokens: Number(row.inputTokens),
                outputTokens: Number(row.outputTokens),
              },
      };
    case 'approval':
      return {
        ...fields,
        id: `${row.id}:${row.event}`,
        kind: 'approval',
        event: row.event,
        approvalId: row.id,
        taskId: row.taskId,
        approverId: row.approverId,
        state: row.approvalState,
        expiresAt: row.expiresAt.toISOString(),
      };
  }
}
