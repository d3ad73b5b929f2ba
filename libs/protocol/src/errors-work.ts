import type { ErrorEntry } from './error-entry.js';

/** Codes of tasks, approvals and runtimes. */
export const WORK_ERRORS = {
  task_not_claimable: {
    kind: 'conflict',
    message:
      'This task is leased, waits, or is finished; read it to see its state, and claim another.',
  },
  task_deadline_passed: {
    kind: 'conflict',
    message: 'The deadline of this task has passed; it cannot be claimed any more.',
  },
  task_finished: {
    kind: 'conflict',
    message: 'This task is completed, failed or cancelled and stays so; create a new one.',
  },
  task_tree_limit: {
    kind: 'conflict',
    message:
      'A root task has at most 4 levels, 32 tasks and 128 messages; finish it and begin a new one.',
  },
  task_assignee_required: {
    kind: 'forbidden',
    message: 'Only the assignee of a task may do this; read the task to see who that is.',
  },
  task_creator_required: {
    kind: 'forbidden',
    message:
      'Only the creator of a task or the owner of its room may cancel it; its assignee fails it instead.',
  },
  lease_lost: {
    kind: 'conflict',
    message: 'Your lease has ended or is not the current one; nothing was changed, claim again.',
  },
  version_conflict: {
    kind: 'conflict',
    message:
      'It has changed since the version you name; read it again and retry with the new version.',
  },

  approval_required: {
    kind: 'conflict',
    message: 'There is no pending approval of this task to wait for; request one first.',
  },
  approval_pending: {
    kind: 'conflict',
    message:
      'An approval of this task is pending or was rejected; await the decision, or request another after it.',
  },
  approval_hash_mismatch: {
    kind: 'conflict',
    message: 'The hash is not that of this approval; read it again and decide on what it says now.',
  },
  approval_expired: {
    kind: 'conflict',
    message: 'The time to decide has passed; the agent has to request a new approval.',
  },
  approval_decided: {
    kind: 'conflict',
    message: 'This approval was decided already; a decision is final.',
  },
  approval_closed: {
    kind: 'conflict',
    message:
      'This approval was closed without a decision; its task has ended, or another took its place.',
  },
  approver_required: {
    kind: 'forbidden',
    message: 'Only the human that the approval is assigned to may decide it; ask that person.',
  },

  runtime_configuration_conflict: {
    kind: 'conflict',
    message:
      'A runtime of this name has another start or policy; use those, another name, or configure it.',
  },
  runtime_limit: {
    kind: 'quota',
    message: 'An agent has at most 8 runtimes; use one of those that it has.',
  },
  runtime_busy: {
    kind: 'conflict',
    message: 'A job of this runtime is leased; stop its workers, or wait until the lease ends.',
  },
  runtime_note_limit: {
    kind: 'conflict',
    message: 'A runtime has at most 64 notes; update one of them instead.',
  },
} as const satisfies Record<string, ErrorEntry>;
