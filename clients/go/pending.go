package clew

import (
	"context"
	"fmt"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
)

// pending are the approvals that a thread waits for, and the version that they were read at. Where nothing waits: ResumeInvalid.
func pending(ctx context.Context, to *connection, threadID string) ([]string, int64, error) {
	request := &clewv1.ListApprovalsRequest{ThreadId: threadID}
	var found []string
	var version int64
	for {
		page, err := ask(ctx, to, to.approvals.ListApprovals, request)
		if err != nil {
			return nil, 0, err
		}
		for _, approval := range page.GetApprovals() {
			found = append(found, approval.GetId())
		}
		if version == 0 {
			version = page.GetVersion()
		}
		request.PageToken = page.GetNextPageToken()
		if request.PageToken == "" {
			break
		}
	}
	if len(found) == 0 {
		return nil, 0, &Error{
			Code:     ResumeInvalid,
			Message:  fmt.Sprintf("thread %s waits for no decision", threadID),
			Metadata: map[string]string{"thread_id": threadID},
			status:   codes.FailedPrecondition,
		}
	}
	return found, version, nil
}

// listApprovals reads all pages.
func listApprovals(ctx context.Context, to *connection, request *clewv1.ListApprovalsRequest) ([]*clewv1.Approval, error) {
	request.PageSize = 200
	var found []*clewv1.Approval
	for {
		page, err := ask(ctx, to, to.approvals.ListApprovals, request)
		if err != nil {
			return nil, err
		}
		found = append(found, page.GetApprovals()...)
		request.PageToken = page.GetNextPageToken()
		if request.PageToken == "" {
			return found, nil
		}
	}
}
