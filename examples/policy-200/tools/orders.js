import { toolOf } from './define.js'

export const tools = [
  toolOf('order_read', 'read', 'Read one order.', { number: 'text' }),
  toolOf('order_search', 'read', 'Search orders.', { 'customer?': 'text', 'status?': 'text', 'limit?': 'whole' }),
  toolOf('order_note', 'write', 'Add a note to an order.', { number: 'text', note: 'text' }),
  toolOf('order_cancel', 'write', 'Cancel an order that was not sent yet.', { number: 'text', reason: 'text' }),
  toolOf('order_refund', 'external', 'Pay money back.', {
    number: 'text',
    amount: 'number',
    currency: 'text',
    reason: 'text',
  }),
  toolOf('customer_read', 'read', 'Read one customer.', { id: 'text', 'fields?': 'texts' }),
  toolOf('customer_export', 'external', 'Export a segment of customers.', {
    segment: 'text',
    format: 'text',
    'to?': 'text',
  }),
  toolOf('voucher_issue', 'external', 'Issue a voucher.', { customer: 'text', value: 'number', currency: 'text' }),
]
