import type { PlanId } from '../types.js';

export interface PlanLimits {
  maxBoards: number;
  maxMembersPerBoard: number;
  maxTasksPerBoard: number;
  maxWebhooksPerBoard: number;
}

export interface Plan {
  id: PlanId;
  title: string;
  monthlyPriceCents: number;
  limits: PlanLimits;
}

const PLANS: Record<PlanId, Plan> = {
  free: {
    id: 'free',
    title: 'Free',
    monthlyPriceCents: 0,
    limits: { maxBoards: 3, maxMembersPerBoard: 5, maxTasksPerBoard: 200, maxWebhooksPerBoard: 1 },
  },
  team: {
    id: 'team',
    title: 'Team',
    monthlyPriceCents: 900,
    limits: { maxBoards: 25, maxMembersPerBoard: 40, maxTasksPerBoard: 2_000, maxWebhooksPerBoard: 5 },
  },
  business: {
    id: 'business',
    title: 'Business',
    monthlyPriceCents: 2_900,
    limits: {
      maxBoards: Number.POSITIVE_INFINITY,
      maxMembersPerBoard: 500,
      maxTasksPerBoard: 20_000,
      maxWebhooksPerBoard: 25,
    },
  },
};

export const PLAN_IDS = Object.keys(PLANS) as PlanId[];

export function limitsFor(planId: PlanId): PlanLimits {
  return PLANS[planId].limits;
}

/** The price list, cheapest first. An unlimited number is shown as null. */
export function priceList(): unknown[] {
  return Object.values(PLANS)
    .sort((a, b) => a.monthlyPriceCents - b.monthlyPriceCents)
    .map((plan) => ({ ...plan, limits: mapValues(plan.limits) }));
}

function mapValues(limits: PlanLimits): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [name, Number.isFinite(value) ? value : null]),
  );
}
