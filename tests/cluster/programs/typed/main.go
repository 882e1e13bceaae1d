// Writes an event with the recorder of client-go, which controllers of controller-runtime use, and asks reviews, with typed clients that send
// protobuf. Prints what both groups of events and the reviews answer, as one JSON object.
//
// Usage: typed KUBECONFIG NAMESPACE TOKEN
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
)

func must[T any](found T, err error) T {
	if err != nil {
		panic(err)
	}
	return found
}

// recorded writes an event twice, which makes a series of it, and gives it as both groups show it.
func recorded(ctx context.Context, client kubernetes.Interface, namespace string) map[string]any {
	sink := &events.EventSinkImpl{Interface: client.EventsV1()}
	broadcaster := events.NewBroadcaster(sink)
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		panic(err)
	}
	defer broadcaster.Shutdown()
	recorder := broadcaster.NewRecorder(scheme.Scheme, "example.com/tests")
	about := &core.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: namespace, Namespace: namespace, UID: "u"}
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		recorder.Eventf(about, nil, "Normal", "Seen", "Seeing", "it was seen %d times", 1)
		found := must(client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "regarding.uid=u"}))
		if len(found.Items) == 1 && found.Items[0].Series != nil {
			one := found.Items[0]
			same := must(client.CoreV1().Events(namespace).Get(ctx, one.Name, metav1.GetOptions{}))
			return map[string]any{
				"note": one.Note, "controller": one.ReportingController, "action": one.Action, "count": one.Series.Count,
				"message": same.Message, "component": same.ReportingController, "about": same.InvolvedObject.Name,
				"same": same.UID == one.UID && same.EventTime.Equal(&one.EventTime) && same.Series.Count == one.Series.Count,
			}
		}
	}
	panic("no series of events")
}

func main() {
	config := must(clientcmd.BuildConfigFromFlags("", os.Args[1]))
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client := must(kubernetes.NewForConfig(config))
	ctx, namespace, token := context.Background(), os.Args[2], os.Args[3]
	found := map[string]any{"events": recorded(ctx, client, namespace)}

	may, who := client.AuthorizationV1(), client.AuthenticationV1()
	about := &authorization.ResourceAttributes{Verb: "get", Resource: "things", Namespace: namespace}
	spec := authorization.SubjectAccessReviewSpec{
		ResourceAttributes: about, User: "ann", UID: "u", Groups: []string{"staff"},
		Extra: map[string]authorization.ExtraValue{"scopes": {"a", "b"}},
	}
	subject := must(may.SubjectAccessReviews().Create(ctx, &authorization.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{}))
	found["subject"] = map[string]any{"spec": subject.Spec, "status": subject.Status}
	local := &authorization.LocalSubjectAccessReview{Spec: spec, ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
	found["local"] = must(may.LocalSubjectAccessReviews(namespace).Create(ctx, local, metav1.CreateOptions{})).Status
	own := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: about}}
	found["own"] = must(may.SelfSubjectAccessReviews().Create(ctx, own, metav1.CreateOptions{})).Status
	for name, each := range map[string]string{"known": token, "unknown": "x"} {
		review := &authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: each}}
		answer := must(who.TokenReviews().Create(ctx, review, metav1.CreateOptions{})).Status
		answer.Audiences = nil
		found[name] = answer
	}
	fmt.Println(string(must(json.Marshal(found))))
}
